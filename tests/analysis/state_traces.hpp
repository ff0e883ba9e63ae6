// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loaded traces that know states of threads.

#include <coroscope/analysis/model.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include "small_traces.hpp"

namespace coroscope_tests {

/// The states of a thread, each from its moment to the next one's. The last one only ends.
inline analysis::thread_history
history_of(const std::vector<std::pair<std::int64_t, analysis::thread_state>>& changes) {
    analysis::thread_history history;
    analysis::state_point next;
    for (const auto& [time_ns, state] : changes) {
        const std::int64_t passed_ns = history.points.empty() ? 0 : time_ns - next.time_ns;
        if (next.state == analysis::thread_state::on_cpu) next.on_cpu_ns += passed_ns;
        if (next.state == analysis::thread_state::blocked) next.blocked_ns += passed_ns;
        if (next.state == analysis::thread_state::preempted) next.preempted_ns += passed_ns;
        next.time_ns = time_ns;
        next.state = state;
        history.points.push_back(next);
    }
    return history;
}

/// A look at the first thread, which waits for a mutex that the second one holds.
inline analysis::blocked_look look_at_mutex(std::int64_t time_ns) {
    analysis::blocked_look look;
    look.time_ns = time_ns;
    look.thread = 0;
    look.call = 202;
    look.address = 0x7f10;
    look.holder_os_id = 4250;
    look.holder = 1;
    look.lock = coroscope::trace::blocked_lock::mutex;
    return look;
}

/// Task 7 is woken at 10 us, runs on the main thread from 20 us to 300 us, is suspended, and runs on
/// the worker from 400 us to 900 us. In the first slice it waits for a mutex that the worker holds in
/// the scope "refill", and is preempted. The worker's states are unknown from 700 us on.
inline analysis::trace states_trace() {
    using enum analysis::thread_state;
    analysis::trace made = task_trace();
    made.strings.push_back("refill");
    analysis::task_info& task = made.tasks[0];
    task.spawn_ns = 5'000;
    task.first_wake_ns = 10'000;
    task.end_ns = 900'000;
    task.time = {780'000, 50'000, 60'000, 0};
    task.awaits = {0, 1};
    made.slices = {{20'000, 300'000, 0, 0}, {400'000, 900'000, 0, 1}};
    made.awaits[0].suspend_ns = 300'000;
    made.awaits[0].wake_ns = 350'000;
    made.awaits[0].resume_ns = 400'000;
    made.details[0].time = {780'000, 50'000, 50'000, 0};
    analysis::event in_frame = made.events[0];
    in_frame.start_ns = 20'000;
    in_frame.end_ns = 900'000;
    in_frame.self_running_ns = 580'000;
    analysis::event on_stack = scope_at(50'000, 250'000, 0);
    on_stack.self_running_ns = 200'000;
    on_stack.parent = 0;
    analysis::event refill = scope_at(140'000, 190'000);
    refill.self_running_ns = 50'000;
    refill.name = 1;
    refill.thread = 1;
    made.events = {in_frame, on_stack, refill};
    made.states.histories = {history_of({{0, on_cpu},
                                         {100'000, blocked},
                                         {180'000, on_cpu},
                                         {200'000, preempted},
                                         {230'000, on_cpu},
                                         {950'000, on_cpu}}),
                             history_of({{0, on_cpu},
                                         {600'000, blocked},
                                         {605'000, on_cpu},
                                         {700'000, unknown},
                                         {1'000'000, unknown}})};
    made.states.looks = {look_at_mutex(150'000)};
    return made;
}

}  // namespace coroscope_tests
