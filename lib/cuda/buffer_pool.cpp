// SPDX-License-Identifier: Apache-2.0
#include "buffer_pool.hpp"

#include <sys/mman.h>

#include <bit>

namespace coroscope::cuda {

// Mapped directly, and not by the allocator: pages that no session fills then cost nothing.
bool buffer_pool::prepare() noexcept {
    if (memory_ != nullptr) return true;
    void* mapped = ::mmap(nullptr, buffer_count * buffer_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return false;
    memory_ = static_cast<std::uint8_t*>(mapped);
    return true;
}

std::uint8_t* buffer_pool::take() noexcept {
    std::uint32_t free = free_.load(std::memory_order_relaxed);
    while (free != 0) {
        const auto index = static_cast<std::size_t>(std::countr_zero(free));
        // Pairs with give_back(): the reader of the buffer is done with it.
        if (free_.compare_exchange_weak(free, free & (free - 1), std::memory_order_acquire,
                                        std::memory_order_relaxed))
            return memory_ + index * buffer_bytes;
    }
    refusals_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
}

bool buffer_pool::give_back(const std::uint8_t* buffer) noexcept {
    const auto offset =
        reinterpret_cast<std::uintptr_t>(buffer) - reinterpret_cast<std::uintptr_t>(memory_);
    if (offset >= buffer_count * buffer_bytes || offset % buffer_bytes != 0) return false;
    const std::uint32_t bit = std::uint32_t{1} << offset / buffer_bytes;
    return (free_.fetch_or(bit, std::memory_order_release) & bit) == 0;
}

std::uint32_t buffer_pool::taken() const noexcept { return ~free_.load(std::memory_order_acquire); }

std::uint64_t buffer_pool::take_refusals() noexcept {
    return refusals_.exchange(0, std::memory_order_relaxed);
}

}  // namespace coroscope::cuda
