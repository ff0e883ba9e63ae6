// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sites of Asio's operations.

#include <atomic>
#include <cstdint>

#include "asio_thread.hpp"

namespace coroscope::asio {

/// The sites of the kinds of operations that were asked for last. One word each: the upper bits of the hash of the
/// addresses, and the id. A kind is kept when tracked code has made a scheduler, which then need not be asked again.
class recent_operations {
public:
    /// False where the kind is not among them.
    [[gnu::always_inline]] static bool find(const char* type, const char* operation,
                                            const void* location, std::uint32_t& site) noexcept {
        const std::uint64_t hash = hash_of(type, operation, location);
        const std::uint64_t entry = slot_of(hash).load(std::memory_order_relaxed);
        site = static_cast<std::uint32_t>(entry & (kept_bit - 1));
        return (entry ^ hash) >> site_bits == 0;
    }

    static void keep(const char* type, const char* operation, const void* location,
                     std::uint32_t site) noexcept {
        if (site >= kept_bit) return;
        const std::uint64_t hash = hash_of(type, operation, location);
        slot_of(hash).store(hash | site, std::memory_order_relaxed);
    }

private:
    // Its lower bits are those of the id, and it is not zero: what was never kept is not found.
    [[gnu::always_inline]] static std::uint64_t hash_of(const char* type, const char* operation,
                                                        const void* location) noexcept {
        constexpr std::uint64_t spread = 0x9e3779b97f4a7c15U;
        const auto word = [](const void* of) { return reinterpret_cast<std::uintptr_t>(of); };
        const std::uint64_t hash =
            ((word(operation) ^ word(type) * spread) * spread ^ word(location)) * spread;
        return (hash | kept_bit) & ~(kept_bit - 1);
    }
    [[gnu::always_inline]] static std::atomic<std::uint64_t>& slot_of(std::uint64_t hash) noexcept {
        return slots[hash >> 56];
    }

    static constexpr unsigned site_bits = 16;
    static constexpr std::uint64_t kept_bit = 1U << site_bits;
    static std::atomic<std::uint64_t> slots[256];
};

/// The same for any kind; the first time its site is made. A std::source_location of null is an unknown one.
std::uint32_t operation_site(const char* type, const char* operation,
                             const void* location) noexcept;

/// Has one of Asio's schedulers been made by tracked code? Set once.
extern std::atomic<bool> scheduler_seen;

/// A tracked operation is created, and its scheduler is not tracked.
void scheduler_missing() noexcept;

}  // namespace coroscope::asio
