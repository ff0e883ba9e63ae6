// SPDX-License-Identifier: Apache-2.0
#pragma once

// The buffers that CUPTI fills. A fixed number is mapped when a session first records devices, and
// kept from then on, because CUPTI may hold a buffer beyond the session. Thread-safe and lock-free.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace coroscope::cuda {

class buffer_pool {
public:
    static constexpr std::size_t buffer_count = 32;
    static constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

    /// Maps the buffers at the first call. Returns false if memory is short.
    bool prepare() noexcept;

    /// Returns a free buffer, or null after counting the refusal.
    std::uint8_t* take() noexcept;

    /// Returns false if the buffer is not a taken one.
    bool give_back(const std::uint8_t* buffer) noexcept;

    /// Returns one bit for each taken buffer.
    std::uint32_t taken() const noexcept;

    /// Returns the number of refusals since the last call.
    std::uint64_t take_refusals() noexcept;

private:
    static_assert(buffer_count == 32, "a bit each");
    std::uint8_t* memory_ = nullptr;
    std::atomic<std::uint32_t> free_{~std::uint32_t{0}};
    std::atomic<std::uint64_t> refusals_{0};
};

}  // namespace coroscope::cuda
