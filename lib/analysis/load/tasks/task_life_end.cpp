// SPDX-License-Identifier: Apache-2.0

// The end of a task's life, and its state at the end of the session.

#include "task_life.hpp"

#include <algorithm>

namespace coroscope::analysis::inline tasks {

void life_builder::end(const move& next) {
    task_info& info = task();
    if (info.end_ns) return;
    const std::uint32_t flags = next.op.value;
    info.end_ns = next.time_ns;
    info.state = (flags & coroscope::trace::finish_cancelled) != 0   ? task_state::cancelled
                 : (flags & coroscope::trace::finish_destroyed) != 0 ? task_state::abandoned
                 : (flags & coroscope::trace::finish_exception) != 0 ? task_state::failed
                                                                     : task_state::finished;
    if ((flags & coroscope::trace::finish_destroyed) != 0) destroyed_on_ = next.op.thread;
    const bool with_service =
        (flags & coroscope::trace::finish_with_service) != 0 || next.time_ns >= service_end_ns_;
    if (info.state == task_state::abandoned) {
        if (awaits_) loaded_.awaits.back().outcome = await_outcome::cancelled;
        if (with_service) info.state = task_state::ended_with_service;
    }
    running_ = false;
}

void life_builder::edge(std::uint32_t awaited) {
    if (awaits_ && !running_) {
        if (loaded_.awaits.back().awaited == none) loaded_.awaits.back().awaited = awaited;
    } else {
        pending_edge_ = awaited;
    }
}

void life_builder::end_of_session() {
    task_info& info = task();
    const std::int64_t end_ns = info.end_ns.value_or(loaded_.duration_ns);
    if (!ran_) {
        const wake* seen = take_first_wake(end_ns);
        if (seen != nullptr) info.first_wake_ns = std::max<std::int64_t>(0, seen->time_ns);
        if (seen != nullptr) info.executor = seen->executor;
        if (!info.end_ns) info.state = seen != nullptr ? task_state::queued : task_state::spawned;
        return;
    }
    if (awaits_) {
        await_info& open = loaded_.awaits.back();
        if (const wake* seen = take_wake(open, end_ns)) set_wake(open, *seen);
        open.clipped |= !info.end_ns;
        if (!info.end_ns) info.state = open.wake_ns ? task_state::queued : task_state::suspended;
    } else if (!info.end_ns) {
        info.state = task_state::running;
    }
}

}  // namespace coroscope::analysis::inline tasks
