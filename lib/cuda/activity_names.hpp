// SPDX-License-Identifier: Apache-2.0
#pragma once

// The names of activities, as ids of sites: demangled names of kernels, CUDA's own names of its
// functions, and torch's names for the rest. Not thread-safe.

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
        bool cut = false;  ///< too long for a site, and not yet reported in this session
    };

    /// Must be called when a session begins.
    void begin() noexcept { ++session_; }

    /// Returns the name of a kernel. `mangled` is the name in its record; null: unknown. A name
    /// that cannot be demangled is kept unchanged.
    name of_kernel(const char* mangled) noexcept;

    /// Returns the name of a function of the runtime's or the driver's interface.
    std::uint32_t of_call(const cupti_functions& cupti, CUpti_CallbackDomain domain,
                          CUpti_CallbackId function) noexcept;

    static std::uint32_t of_copy(unsigned kind, unsigned from, unsigned to) noexcept;
    static std::uint32_t of_set(unsigned memory) noexcept;
    static std::uint32_t of_synchronization(unsigned type) noexcept;
    static std::uint32_t of_overhead(unsigned kind) noexcept;
    static std::uint32_t of_memory() noexcept;

private:
    // If the tables have no room for a name, the name is looked up again at each use.
    static constexpr std::size_t kernel_places = 4096;
    static constexpr std::size_t kernel_probes = 8;
    static constexpr std::size_t call_places = 2048;
    struct release {
        void operator()(char* text) const noexcept;
    };
    struct known_kernel {
        std::unique_ptr<char, release> mangled;
        std::uint32_t site = 0;
        std::uint32_t told_in = 0;  ///< the last session that has counted this name as cut
        bool cut = false;
    };
    name tell(known_kernel& kernel) const noexcept;
    bool keep(known_kernel& place, std::string_view mangled, name as) const noexcept;

    std::uint32_t session_ = 0;
    known_kernel kernels_[kernel_places];
    std::uint32_t calls_[2][call_places] = {};
};

}  // namespace coroscope::cuda
