// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernel's facts about threads: the records in chunks of kind `kernel`. Under overwrite-oldest,
// these chunks are overwritten like chunks of records. See also docs/reference/format.md.
//
// The first word of these records is CLOCK_MONOTONIC in nanoseconds, not ticks. Each fact has its
// size in its tag, so a reader can skip facts of kinds that it does not support.

#include <cstddef>
#include <cstdint>

#include <coroscope/trace/fact_format.hpp>

namespace coroscope::trace {

// clang-format off: tables with a remark beside each row
/// Flags of processor (the tag's value). The tag's id is the kernel's id of the thread.
enum processor_flags : std::uint32_t {
    processor_entered = 1U << 0,  ///< set: the thread came onto a processor; not set: it left one
    /// For a thread that left its processor: set if the thread was preempted. If not set, the
    /// thread waits in the kernel. That wait includes the time from the kernel's wake-up until the
    /// thread is on a processor again. Sums of the thread (thread_times_body) from before and
    /// after the wait have this delay.
    processor_preempted = 1U << 1,
    /// Beside processor_preempted: the thread was created. From this moment on it could run, and
    /// its sums (thread_times_body) count from 0.
    processor_created = 1U << 2,
};
inline constexpr unsigned processor_number_shift = 8;  ///< above the flags: the processor's number

/// The sums of one thread, by schedstat, from the thread's start to this moment.
struct thread_times_body {
    std::uint32_t thread;     ///< the kernel's id
    std::uint32_t reserved;
    std::uint64_t on_cpu_ns;  ///< on a processor
    std::uint64_t delay_ns;   ///< time in which the thread could run but had no processor
    std::uint64_t stretches;  ///< on a processor
};
static_assert(sizeof(thread_times_body) == 32);

/// The kernel dropped records of switches. Up to the fact's moment, states of threads are unknown.
struct switches_lost_body {
    std::int64_t since_ns;  ///< CLOCK_MONOTONIC
    std::uint64_t count;
};
static_assert(sizeof(switches_lost_body) == 16);

/// One look at a thread that had been off its processor for some time.
struct blocked_body {
    std::uint32_t thread;     ///< the kernel's id
    std::uint32_t call;       ///< number of the system call; blocked_call_unknown
    /// CLOCK_MONOTONIC: a time at which the thread had already left its processor; 0: unknown
    std::int64_t since_ns;
    std::uint64_t address;    ///< of the futex, if the call is futex; else 0
    std::uint64_t descriptor; ///< the call's file descriptor plus 1, if it has one; else 0
    std::uint32_t holder;     ///< the thread that held the lock at `address`; 0: unknown
    std::uint32_t lock;       ///< blocked_lock
};
static_assert(sizeof(blocked_body) == 40);

inline constexpr std::uint32_t blocked_call_unknown = ~std::uint32_t{0};

/// The lock at a futex's address, as far as the C library's layout shows it.
enum class blocked_lock : std::uint32_t { unknown = 0, mutex = 1, rwlock_writer = 2 };
// clang-format on

}  // namespace coroscope::trace
