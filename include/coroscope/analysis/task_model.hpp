// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of the model for tasks: their slices, their awaits and the parts of their time.
// model.hpp describes times, unknown values and thread-safety.

#include <cstdint>
#include <tuple>

#include <coroscope/analysis/index_range.hpp>
#include <coroscope/analysis/packed_rows.hpp>
#include <coroscope/analysis/saturated.hpp>
#include <coroscope/trace/await_format.hpp>

namespace coroscope::analysis {

/// The parts of an await, or of a task's wall time.
struct time_split {
    std::int64_t running_ns = 0;
    std::int64_t suspended_ns = 0;
    std::int64_t queued_ns = 0;
    std::int64_t waiting_ns = 0;  ///< from suspend to resume, if the wake is unknown
    [[nodiscard]] std::int64_t wall_ns() const {
        return analysis::saturated_sum(analysis::saturated_sum(running_ns, suspended_ns),
                                       analysis::saturated_sum(queued_ns, waiting_ns));
    }
    /// Adds each part to the same part; a sum saturates at the limits of int64.
    void add(const time_split& added) {
        analysis::add_to(running_ns, added.running_ns);
        analysis::add_to(suspended_ns, added.suspended_ns);
        analysis::add_to(queued_ns, added.queued_ns);
        analysis::add_to(waiting_ns, added.waiting_ns);
    }
};

/// One uninterrupted run of a task on one thread.
struct slice {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t task = none;    ///< index into trace::tasks
    std::uint32_t thread = none;  ///< index into trace::threads
};

/// The reason for a wake, besides the waker.
enum class wake_reason : std::uint8_t {
    unknown,
    timer,         ///< a timer expired; the wake is the expiry, or suspend_ns if that is later
    cancellation,  ///< the waker cancelled the awaited operation
    /// The waker had ended. From its end to the wake, its result waited for a thread of the waker's
    /// executor.
    result,
    /// A thread noticed the event without waiting for it since its last task. The event may be
    /// older, so wake_ns is an upper bound.
    noticed,
};

/// One suspension of a task.
struct await_info {
    std::uint32_t task = none;     ///< index into trace::tasks
    std::uint32_t site = none;     ///< index into trace::sites
    std::uint32_t scope = none;    ///< the task's innermost open scope: index into trace::events
    std::uint32_t awaited = none;  ///< the awaited task; none: no task, or unknown
    /// The task that woke `task`. If wake_ns is unknown, it is the task that resumed `task`, for
    /// example the loop of a scheduler: `task` may have been ready before. The wake was then at
    /// resume_ns or earlier.
    std::uint32_t waker = none;
    std::uint32_t waker_thread = none;  ///< none also if the thread recorded nothing itself
    std::int64_t suspend_ns = 0;
    optional_ns wake_ns;    ///< none: no record of the wake
    optional_ns resume_ns;  ///< none: never resumed while the session ran
    bool clipped = false;   ///< began before the session's start, or had not ended at its stop
    /// A hand-over: the task resumed `awaited`, and `awaited` ran on top of the task or in its
    /// place. The task did so in await_suspend, by a transfer, or in the middle of its own code. In
    /// the last case `site` is none.
    bool handed_over = false;
    /// The awaited operation completed before await_suspend returned. If another task ran in
    /// await_suspend, `handed_over` is set. Otherwise the thread went on with this task, and the
    /// await takes no time.
    bool at_once = false;
    /// resume_ns is an upper bound: the recorder noticed the resume only when the task suspended
    /// again or ended. This happens with several awaits in one expression, compiled by g++ 12.
    bool resume_overdue = false;
    wake_reason reason = wake_reason::unknown;
    coroscope::trace::await_outcome outcome = coroscope::trace::await_outcome::unknown;
    std::uint32_t object = none;  ///< the awaited object: index into trace::objects
    /// The executor that got the task at the wake, or ran it from the resume on: index into
    /// trace::executors. none: unknown.
    std::uint32_t executor = none;
};

/// The state of a task at the end of the session.
enum class task_state : std::uint8_t {
    spawned,
    running,
    suspended,
    queued,
    finished,
    failed,
    abandoned,
    cancelled,
    unknown,            ///< no end was recorded, but it may be among missing records
    ended_with_service  ///< destroyed while suspended, by or after the end of the service
};

/// One task.
struct task_info {
    std::uint64_t id = 0;
    std::uint32_t spawn_site = none;
    std::uint32_t parent = none;   ///< the task whose context created it
    std::uint32_t awaiter = none;  ///< the task that awaits it
    std::uint32_t spawn_thread = none;
    /// The executor that got the task at its first wake, or ran it first: index into
    /// trace::executors. none: unknown.
    std::uint32_t executor = none;
    optional_ns spawn_ns;  ///< unknown for tasks older than the session
    /// The start of the wall time. It is the first resume if no wake was recorded.
    optional_ns first_wake_ns;
    optional_ns end_ns;  ///< the time of the finish; none: the task had not finished at the stop
    task_state state = task_state::spawned;
    bool older_than_session = false;
    bool losses = false;  ///< records of the task were lost: gaps in `time` count as waiting
    bool asio = false;
    bool fiber = false;
    bool job = false;
    std::uint32_t attribute = none;  ///< its first attribute: index into trace::attributes
    time_split time;                 ///< within the session, from first wake to finish or stop
    optional_ns spawn_to_wake_ns;
    index_range slices;  ///< indices into trace::slices, by time
    index_range awaits;  ///< indices into trace::awaits, by time
    /// The place of the spawn: index into trace::spawn_places. none: unknown.
    std::uint32_t spawn_place = none;
};

template <>
struct packed_columns<slice> {
    using type = std::tuple<packed_member<&slice::start_ns>, packed_member<&slice::end_ns>,
                            packed_member<&slice::task>, packed_member<&slice::thread>>;
};

template <>
struct packed_columns<await_info> {
    using type =
        std::tuple<packed_member<&await_info::task>, packed_member<&await_info::site>,
                   packed_member<&await_info::scope>, packed_member<&await_info::awaited>,
                   packed_member<&await_info::waker>, packed_member<&await_info::waker_thread>,
                   packed_member<&await_info::suspend_ns>, packed_member<&await_info::wake_ns>,
                   packed_member<&await_info::resume_ns>, packed_member<&await_info::clipped>,
                   packed_member<&await_info::handed_over>, packed_member<&await_info::at_once>,
                   packed_member<&await_info::resume_overdue>, packed_member<&await_info::reason>,
                   packed_member<&await_info::outcome>, packed_member<&await_info::object>,
                   packed_member<&await_info::executor>>;
};

template <>
struct packed_columns<task_info> {
    using type =
        std::tuple<packed_member<&task_info::id>, packed_member<&task_info::spawn_site>,
                   packed_member<&task_info::parent>, packed_member<&task_info::awaiter>,
                   packed_member<&task_info::spawn_thread>, packed_member<&task_info::executor>,
                   packed_member<&task_info::spawn_ns>, packed_member<&task_info::first_wake_ns>,
                   packed_member<&task_info::end_ns>, packed_member<&task_info::state>,
                   packed_member<&task_info::older_than_session>, packed_member<&task_info::losses>,
                   packed_member<&task_info::asio>, packed_member<&task_info::fiber>,
                   packed_member<&task_info::job>, packed_member<&task_info::attribute>,
                   packed_inner<&task_info::time, &time_split::running_ns>,
                   packed_inner<&task_info::time, &time_split::suspended_ns>,
                   packed_inner<&task_info::time, &time_split::queued_ns>,
                   packed_inner<&task_info::time, &time_split::waiting_ns>,
                   packed_member<&task_info::spawn_to_wake_ns>,
                   packed_inner<&task_info::slices, packed_range::first>,
                   packed_inner<&task_info::slices, packed_range::count>,
                   packed_inner<&task_info::awaits, packed_range::first>,
                   packed_inner<&task_info::awaits, packed_range::count>,
                   packed_member<&task_info::spawn_place>>;
};

}  // namespace coroscope::analysis
