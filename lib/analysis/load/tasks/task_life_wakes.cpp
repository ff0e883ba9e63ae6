// SPDX-License-Identifier: Apache-2.0

// The wakes in a task's life, and the awaits that they end.

#include <algorithm>
#include <limits>

#include "../../model/left_out.hpp"
#include "task_life.hpp"

namespace coroscope::analysis::inline tasks {

namespace {

// How much earlier than the suspend record a wake may be dated and still belong to its await: the
// waker may have taken its time stamp before the awaiting thread took its own. An earlier wake
// found no suspended task and is left out, so that it cannot make a later await look queued.
constexpr std::int64_t wake_tolerance_ns = 10'000;
constexpr std::int64_t ever = std::numeric_limits<std::int64_t>::min();

wake_reason reason_of(op_cause cause) {
    switch (cause) {
        case op_cause::timer: return wake_reason::timer;
        case op_cause::cancellation: return wake_reason::cancellation;
        case op_cause::result: return wake_reason::result;
        default: return wake_reason::unknown;
    }
}

}  // namespace

// A wake by a timer belongs to a resume: timer_of().
void life_builder::add_wake(const task_op& op) {
    if (op.cause == op_cause::timer)
        has_timers_ = true;
    else
        wakes_.push_back({op.time_ns, op.other, op.value, op.cause, op.site});
}

// Returns the earliest wake of an await, from which on the task was ready. Later wakes change
// nothing. A cancellation comes after the start of the operation that it ends; an earlier one ended
// another operation.
const life_builder::wake* life_builder::take_wake(std::int64_t from_ns, std::int64_t started_ns,
                                                  std::int64_t to_ns) {
    const auto is_older = [from_ns, started_ns](const wake& seen) {
        return seen.time_ns < (seen.cause == op_cause::cancellation ? started_ns : from_ns);
    };
    const wake* first = nullptr;
    for (; next_wake_ < wakes_.size() && wakes_[next_wake_].time_ns <= to_ns; ++next_wake_)
        if (first == nullptr && !is_older(wakes_[next_wake_])) first = &wakes_[next_wake_];
    return first;
}

const life_builder::wake* life_builder::take_wake(const await_info& await, std::int64_t to_ns) {
    return take_wake(await.suspend_ns - wake_tolerance_ns, await.suspend_ns, to_ns);
}

const life_builder::wake* life_builder::take_first_wake(std::int64_t to_ns) {
    return take_wake(ever, task().spawn_ns.value_or(ever), to_ns);
}

// A timer may have expired before the handler's task was spawned.
std::int64_t life_builder::first_wake(std::int64_t time_ns, const wake* seen) {
    const wake* earlier = take_first_wake(time_ns);
    if (earlier == nullptr) earlier = seen;
    if (earlier == nullptr) return time_ns;
    task().executor = earlier->executor;
    const bool by_timer = earlier->cause == op_cause::timer;
    return std::max(
        {std::int64_t{0}, earlier->time_ns, by_timer ? task().spawn_ns.value_or(ever) : ever});
}

void life_builder::set_wake(await_info& await, const wake& seen) {
    await.wake_ns = std::max(await.suspend_ns, seen.time_ns);
    await.waker = seen.waker;
    await.waker_thread = seen.thread;
    await.reason = reason_of(seen.cause);
    await.executor = seen.executor;
}

void life_builder::close_await(std::int64_t time_ns, const wake* seen, await_outcome outcome) {
    await_info& closed = loaded_.awaits.back();
    const wake* earlier = take_wake(closed, time_ns);
    if (is_left_out(loaded_, closed)) earlier = seen = nullptr;
    if (earlier != nullptr)
        set_wake(closed, *earlier);
    else if (seen != nullptr)
        set_wake(closed, *seen);
    else if (woken_by_.time_ns == time_ns)
        closed.waker = woken_by_.waker;  // it may have been ready before
    closed.resume_ns = time_ns;
    closed.outcome = outcome;
    awaits_ = false;
}

}  // namespace coroscope::analysis::inline tasks
