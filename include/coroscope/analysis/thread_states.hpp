// SPDX-License-Identifier: Apache-2.0
#pragma once

// The model's part for the kernel's facts: the states of threads, and what blocked them.
//
// Running time (a task or a scope is on a thread) divides into on-CPU, blocked and preempted, as
// far as the trace proves it; the rest is unknown. The delay from the kernel's wake-up to the next
// processor is preempted time if the kernel's sums from around the wait are in the trace, else
// blocked time: the kernel does not date the wake-up.
//
// model.hpp describes times and thread-safety.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <coroscope/analysis/index_range.hpp>
#include <coroscope/analysis/saturated.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/trace/format.hpp>
#include <coroscope/trace/kernel_format.hpp>

namespace coroscope::analysis {

/// The state of a thread at a moment.
enum class thread_state : std::uint8_t {
    unknown,
    on_cpu,    ///< on a processor
    blocked,   ///< it waits in the kernel, or was woken at an unknown moment
    preempted  ///< it could run on, without a processor
};

/// The division of a time on a thread. The four parts add up to that time.
struct state_times {
    std::int64_t on_cpu_ns = 0;
    std::int64_t blocked_ns = 0;
    std::int64_t preempted_ns = 0;
    std::int64_t unknown_ns = 0;

    [[nodiscard]] std::int64_t known_ns() const {
        return analysis::saturated_sum(analysis::saturated_sum(on_cpu_ns, blocked_ns),
                                       preempted_ns);
    }
    [[nodiscard]] std::int64_t total_ns() const {
        return analysis::saturated_sum(known_ns(), unknown_ns);
    }
    /// Adds each part to the same part; a sum saturates at the limits of int64.
    void add(const state_times& added) {
        analysis::add_to(on_cpu_ns, added.on_cpu_ns);
        analysis::add_to(blocked_ns, added.blocked_ns);
        analysis::add_to(preempted_ns, added.preempted_ns);
        analysis::add_to(unknown_ns, added.unknown_ns);
    }
    /// Takes each part from the same part; the results may be negative.
    void subtract(const state_times& taken) {
        on_cpu_ns = analysis::saturated_difference(on_cpu_ns, taken.on_cpu_ns);
        blocked_ns = analysis::saturated_difference(blocked_ns, taken.blocked_ns);
        preempted_ns = analysis::saturated_difference(preempted_ns, taken.preempted_ns);
        unknown_ns = analysis::saturated_difference(unknown_ns, taken.unknown_ns);
    }
    bool operator==(const state_times&) const = default;
};

/// A time in which a thread's state did not change, or is unknown throughout.
struct state_stretch {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    thread_state state = thread_state::unknown;
    bool operator==(const state_stretch&) const = default;
};

/// The beginning of a piece of a thread's time, which lasts until the next point. A piece whose
/// state is unknown may have known sums: then those at the next point are larger.
struct state_point {
    std::int64_t time_ns = 0;
    std::int64_t on_cpu_ns = 0;     ///< of all pieces before this one
    std::int64_t blocked_ns = 0;    ///< the same
    std::int64_t preempted_ns = 0;  ///< the same
    thread_state state = thread_state::unknown;
};

/// The kernel's sums of a thread between two moments.
struct kernel_sums {
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;
    std::int64_t on_cpu_ns = 0;
    std::int64_t delay_ns = 0;  ///< it could run, without a processor: preempted, or woken
};

/// Divides a time of which the kernel's sums are known. If the sums exceed the time, they are cut
/// to it.
[[nodiscard]] COROSCOPE_API state_times split_by_sums(std::int64_t span_ns, std::int64_t on_cpu_ns,
                                                      std::int64_t delay_ns);

/// The states of one thread.
struct thread_history {
    std::vector<state_point> points;  ///< by time; the last one is the end. Empty: nothing is known
    std::optional<kernel_sums> sums;  ///< over the longest time of which they are known
};

/// One look at a thread that had been off its processor for some time.
struct blocked_look {
    std::int64_t time_ns = 0;
    optional_ns since_ns;         ///< off its processor since then at the latest
    std::uint32_t thread = none;  ///< index into trace::threads
    /// Number of the system call; coroscope::trace::blocked_call_unknown
    std::uint32_t call = coroscope::trace::blocked_call_unknown;
    std::uint64_t address = 0;       ///< of the futex; 0: the call is no futex, or unknown
    std::int64_t descriptor = -1;    ///< the call's file descriptor; -1: none
    std::uint64_t holder_os_id = 0;  ///< the thread that held the lock; 0: unknown
    std::uint32_t holder =
        none;  ///< the same: index into trace::threads; none if it recorded nothing
    coroscope::trace::blocked_lock lock{};
};

/// The kernel's facts about the threads of a trace.
class thread_states {
public:
    coroscope::trace::thread_state_source source{};
    std::string message;                    ///< why the source is not the best one
    std::uint64_t switches = 0;             ///< records of threads that took or left a processor
    std::uint64_t lost_switches = 0;        ///< by the kernel's count
    std::uint32_t processors = 0;           ///< that the process could use; 0: unknown
    std::uint32_t quota_percent = 0;        ///< 150: one and a half processors; 0: none, or unknown
    std::vector<thread_history> histories;  ///< by index into trace::threads; empty: no facts
    std::vector<blocked_look> looks;        ///< by (thread, time)

    /// Whether a state of any thread is known. Otherwise views show running time undivided.
    [[nodiscard]] bool any() const noexcept { return !histories.empty(); }

    /// Divides the time from `from_ns` to `to_ns` on a thread (an index into trace::threads).
    /// Takes O(log n) steps. Outside the thread's known time everything is unknown.
    [[nodiscard]] COROSCOPE_API state_times between(std::uint32_t thread, std::int64_t from_ns,
                                                    std::int64_t to_ns) const;

    /// The same, fast for calls in the order of their times. `near` must be 0, or a position that
    /// an earlier call for the thread left there.
    [[nodiscard]] COROSCOPE_API state_times between(std::uint32_t thread, std::int64_t from_ns,
                                                    std::int64_t to_ns, std::size_t& near) const;

    /// The stretches of that time, in order, without gaps; two neighbours differ in their state.
    /// A piece of which only sums are known is one unknown stretch.
    [[nodiscard]] COROSCOPE_API std::vector<state_stretch>
    stretches(std::uint32_t thread, std::int64_t from_ns, std::int64_t to_ns) const;

    /// The stretch around a moment, in its whole length. Unknown and empty outside known time.
    [[nodiscard]] COROSCOPE_API state_stretch around(std::uint32_t thread,
                                                     std::int64_t moment_ns) const;

    /// All time of a thread that recorded. If the states of a part are unknown, the kernel's sums
    /// divide the whole.
    [[nodiscard]] COROSCOPE_API state_times sums_of(std::uint32_t thread) const;

    /// The looks at a thread from `from_ns` to `to_ns`, both included, by time.
    [[nodiscard]] COROSCOPE_API std::span<const blocked_look>
    looks_at(std::uint32_t thread, std::int64_t from_ns, std::int64_t to_ns) const;
};

}  // namespace coroscope::analysis
