// SPDX-License-Identifier: Apache-2.0
#pragma once

// The buffers that CUPTI fills: a fixed number, mapped when a session first records devices and kept from then on,
// because CUPTI may hold on to one beyond the session. Thread-safe and lock-free.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace coroscope::cuda {

class buffer_pool {
public:
    static constexpr std::size_t buffer_count = 32;
    static constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

    /// Maps the buffers if they are not yet. False when memory is short.
    bool prepare() noexcept;

    /// A free buffer, or null with the refusal counted.
    std::uint8_t* take() noexcept;

    /// False where the buffer is none that was taken.
    bool give_back(const std::uint8_t* buffer) noexcept;

    /// One bit for each buffer that is taken.
    std::uint32_t taken() const noexcept;

    /// How often there was none since this was last asked.
    std::uint64_t take_refusals() noexcept;

private:
    static_assert(buffer_count == 32, "a bit each");
    std::uint8_t* memory_ = nullptr;
    std::atomic<std::uint32_t> free_{~std::uint32_t{0}};
    std::atomic<std::uint64_t> refusals_{0};
};

}  // namespace coroscope::cuda
