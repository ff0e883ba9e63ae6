// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is known of the kinds of Asio's operations: the site of each, and whether it is ready at once.

#include <atomic>
#include <cstdint>
#include <string_view>

#include "asio_thread.hpp"

namespace coroscope::asio {

/// What is known of a kind of operation that was started at one place.
struct operation_facts {
    std::uint32_t site;
    bool ready;  ///< work handed to an executor: ready when it is created
    bool timer;
};

inline bool is_executor_work(const char* operation) noexcept {
    if (*operation == 'a') return false;  // async_…, as most are
    const std::string_view name(operation);
    return name == "execute" || name == "post" || name == "dispatch" || name == "defer";
}

/// The kinds that were asked for last. One word each: the upper bits of the hash of the addresses, two facts, the id
/// of the site.
class recent_operations {
public:
    /// False where the kind is not among them.
    [[gnu::always_inline]] static bool find(const char* type, const char* operation,
                                            const void* location, operation_facts& found) noexcept {
        const std::uint64_t hash = hash_of(type, operation, location);
        const std::uint64_t entry = slots[hash >> 56].load(std::memory_order_relaxed);
        found = {static_cast<std::uint32_t>(entry & (timer_bit - 1)), (entry & ready_bit) != 0,
                 (entry & timer_bit) != 0};
        return (entry ^ hash) >> fact_bits == 0 && entry != 0;
    }

    static void keep(const char* type, const char* operation, const void* location,
                     const operation_facts& kept) noexcept {
        if (kept.site >= timer_bit) return;
        const std::uint64_t hash = hash_of(type, operation, location);
        slots[hash >> 56].store(hash >> fact_bits << fact_bits | (kept.ready ? ready_bit : 0) |
                                    (kept.timer ? timer_bit : 0) | kept.site,
                                std::memory_order_relaxed);
    }

private:
    [[gnu::always_inline]] static std::uint64_t hash_of(const char* type, const char* operation,
                                                        const void* location) noexcept {
        constexpr std::uint64_t spread = 0x9e3779b97f4a7c15U;
        const auto word = [](const void* of) { return reinterpret_cast<std::uintptr_t>(of); };
        return ((word(operation) ^ word(type) * spread) * spread ^ word(location)) * spread;
    }

    static constexpr unsigned fact_bits = 18;
    static constexpr std::uint64_t ready_bit = 1U << 17;
    static constexpr std::uint64_t timer_bit = 1U << 16;
    static std::atomic<std::uint64_t> slots[256];
};

/// The same for any kind; the first time its site is made.
operation_facts facts_of(const char* type, const char* operation, const void* location) noexcept;

/// The id of the site of an operation that was started at a std::source_location (null: unknown).
inline std::uint32_t operation_site(const char* type, const char* operation,
                                    const void* location) noexcept {
    return facts_of(type, operation, location).site;
}

/// Has one of Asio's schedulers been made by tracked code? Set once.
extern std::atomic<bool> scheduler_seen;

/// A tracked operation is created, and its scheduler is not tracked.
void scheduler_missing() noexcept;

}  // namespace coroscope::asio
