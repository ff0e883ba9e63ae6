// SPDX-License-Identifier: Apache-2.0
#pragma once

// What activities are called, as ids of sites. Kernels by their demangled names, CUDA's functions by their own, the
// rest as torch's traces name them. Not thread-safe.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "cupti_library.hpp"

namespace coroscope::cuda {

class activity_names {
public:
    struct name {
        std::uint32_t site = 0;
        bool cut = false;  ///< too long for a site, and not told of in this session
    };

    /// A session begins.
    void begin() noexcept { ++session_; }

    /// A kernel's, by the name in its record; null: unknown. One that cannot be demangled stays as it is.
    name of_kernel(const char* mangled) noexcept;

    /// A function's of the runtime's interface, or of the driver's.
    std::uint32_t of_call(const cupti_functions& cupti, CUpti_CallbackDomain domain,
                          CUpti_CallbackId function) noexcept;

    static std::uint32_t of_copy(unsigned kind, unsigned from, unsigned to) noexcept;
    static std::uint32_t of_set(unsigned memory) noexcept;
    static std::uint32_t of_synchronization(unsigned type) noexcept;
    static std::uint32_t of_overhead(unsigned kind) noexcept;
    static std::uint32_t of_memory() noexcept;

private:
    // Names beyond these places are looked at anew each time.
    static constexpr std::size_t kernel_places = 4096;
    static constexpr std::size_t kernel_probes = 8;
    static constexpr std::size_t call_places = 2048;
    struct release {
        void operator()(char* text) const noexcept;
    };
    struct known_kernel {
        std::unique_ptr<char, release> mangled;
        std::uint32_t site = 0;
        std::uint32_t told_in = 0;  ///< session that knows that it was cut
        bool cut = false;
    };
    name tell(known_kernel& kernel) const noexcept;
    bool keep(known_kernel& place, std::string_view mangled, name as) const noexcept;

    std::uint32_t session_ = 0;
    known_kernel kernels_[kernel_places];
    std::uint32_t calls_[2][call_places] = {};
};

}  // namespace coroscope::cuda
