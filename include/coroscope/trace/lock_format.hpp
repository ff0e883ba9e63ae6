// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waits for the C library's locks: facts of kind lock_wait, in chunks of kind `records`. The
// waiting thread writes one when the wait ends, with the start of the wait in ticks as its first
// word. A lock that is free leaves no record. See also docs/reference/format.md.

#include <cstdint>

#include <coroscope/trace/fact_format.hpp>

namespace coroscope::trace {

// clang-format off: tables with a remark beside each row
enum class lock_kind : std::uint8_t {
    unknown = 0,
    mutex = 1,
    read = 2,       ///< a reader-writer lock, as a reader
    write = 3,      ///< a reader-writer lock, as a writer
    condition = 4,  ///< a mutex, taken again after the wait for a condition variable
    spin = 5,
};

/// One wait for a lock. A mark is 0 if it is unknown.
struct lock_wait_body {
    std::uint64_t duration;  ///< ticks
    std::uint64_t released;  ///< ticks of the last release within the wait; 0: unknown
    std::uint64_t address;   ///< of the lock; of a condition's wait, of the mutex
    std::uint64_t waiter;    ///< mark: current at the end of the wait
    std::uint64_t releaser;  ///< mark: current at `released`
    /// The kernel's id of the thread that held the lock at the start; 0: unknown.
    std::uint32_t holder;
    std::uint32_t reserved;  ///< 0
};
static_assert(sizeof(lock_wait_body) == 48);

/// The bits of a lock_wait above the kind of the lock.
enum lock_wait_bits : std::uint32_t {
    lock_wait_gave_up = 1U << 0,       ///< it ended without the lock
    lock_wait_began_before = 1U << 1,  ///< it may have begun before: `duration` is a lower bound
};
// clang-format on

/// The tag's id: the fact's kind, the kind of the lock (8 bits), lock_wait_bits (8 bits).
constexpr std::uint32_t make_lock_wait_id(lock_kind kind, std::uint32_t bits) noexcept {
    return trace::fact_id(fact_kind::lock_wait, static_cast<std::uint32_t>(kind) | bits << 8);
}
constexpr lock_kind lock_kind_of(std::uint32_t id) noexcept {
    return static_cast<lock_kind>(trace::fact_bits_of(id) & 0xffU);
}
constexpr std::uint32_t lock_wait_bits_of(std::uint32_t id) noexcept {
    return trace::fact_bits_of(id) >> 8 & 0xffU;
}

}  // namespace coroscope::trace
