// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is known of the kinds of Asio's operations: the site of each, and whether it is ready at once.

#include <atomic>
#include <cstdint>
#include <utility>

#include "asio_thread.hpp"

namespace coroscope::asio {

/// What is known of a kind of operation that was started at one place.
struct operation_facts {
    std::uint32_t site;
    bool ready;  ///< work handed to an executor: ready when it is created
    bool timer;
};

// The name alone, or with properties behind it: a pool's work is "execute(blk=never,rel=fork)". Character by
// character, without a call: most names differ in the first.
template <std::size_t Size>
[[gnu::always_inline]] inline bool is_name(const char* given, const char (&name)[Size]) noexcept {
    constexpr std::size_t end = Size - 1;
    return [&]<std::size_t... At>(std::index_sequence<At...>) {
        return ((given[At] == name[At]) && ...);
    }(std::make_index_sequence<end>{}) &&
           (given[end] == '\0' || given[end] == '(');
}

inline bool is_executor_work(const char* operation) noexcept {
    return is_name(operation, "execute") || is_name(operation, "post") ||
           is_name(operation, "dispatch") || is_name(operation, "defer");
}

/// The kinds that were asked for last. One word each: the upper bits of the hash of the addresses, two facts, the id
/// of the site. A kind is kept when tracked code has made a scheduler, which then need not be asked again.
class recent_operations {
public:
    /// False where the kind is not among them.
    static bool find(const char* type, const char* operation, const void* location,
                     operation_facts& found) noexcept {
        const std::uint64_t hash = hash_of(type, operation, location);
        const std::uint64_t entry = slot_of(hash).load(std::memory_order_relaxed);
        found = {site_of(entry), (entry & ready_bit) != 0, (entry & timer_bit) != 0};
        return (entry ^ hash) >> fact_bits == 0;
    }

    /// The same for kinds that are no timers.
    [[gnu::always_inline]] static bool find_plain(const char* type, const char* operation,
                                                  const void* location,
                                                  std::uint64_t& entry) noexcept {
        const std::uint64_t hash = hash_of(type, operation, location);
        entry = slot_of(hash).load(std::memory_order_relaxed);
        return (entry ^ hash) >> plain_fact_bits == 0;
    }
    [[gnu::always_inline]] static std::uint32_t site_of(std::uint64_t entry) noexcept {
        return static_cast<std::uint32_t>(entry & (ready_bit - 1));
    }
    static constexpr std::uint64_t ready_bit = 1U << 16;
    static constexpr unsigned ready_shift = 22;  ///< to purpose_ready in a purpose

    static void keep(const char* type, const char* operation, const void* location,
                     const operation_facts& kept) noexcept {
        if (kept.site >= ready_bit) return;
        const std::uint64_t hash = hash_of(type, operation, location);
        slot_of(hash).store(hash | (kept.ready ? ready_bit : 0) | (kept.timer ? timer_bit : 0) |
                                kept.site,
                            std::memory_order_relaxed);
    }

private:
    // Its lower bits are those of facts, and it is not zero: what was never kept is not found.
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

    static constexpr unsigned plain_fact_bits = 17;
    static constexpr unsigned fact_bits = 18;
    static constexpr std::uint64_t timer_bit = 1U << 17;
    static constexpr std::uint64_t kept_bit = 1U << 18;
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
