// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loaded traces of a few elements, for tests of exports.

#include <coroscope/analysis/model.hpp>

#include <cstdint>

namespace coroscope_tests {

namespace analysis = coroscope::analysis;

inline analysis::event scope_at(std::int64_t start_ns, std::int64_t end_ns,
                                std::uint32_t task = analysis::none) {
    analysis::event scope;
    scope.start_ns = start_ns;
    scope.end_ns = end_ns;
    scope.name = 0;
    scope.site = 0;
    scope.thread = 0;
    scope.task = task;
    return scope;
}

/// A process with two threads, one name and two sites.
inline analysis::trace empty_trace() {
    analysis::trace made;
    made.process_name = "service";
    made.process_id = 4242;
    made.duration_ns = 1'000'000;
    made.strings = {"handle"};
    made.sites = {{"handle", "", "src/service.cpp", 12, "http", "", 0},
                  {"db.query", "", "src/store.cpp", 42, "", "", 2}};
    made.threads = {{1, 4242, "main", 0, 0, 0}, {2, 4250, "worker", 0, 0, 0}};
    return made;
}

/// One task: spawned by the main thread at 100, first run at 200, suspended 300 to 700 with a wake
/// at 500 from the worker, finished at 900. A scope in its frame spans it.
inline analysis::trace task_trace() {
    analysis::trace made = empty_trace();
    analysis::task_info task;
    task.id = 7;
    task.spawn_site = 0;
    task.spawn_thread = 0;
    task.spawn_ns = 100;
    task.first_wake_ns = 150;
    task.end_ns = 900;
    task.state = analysis::task_state::finished;
    task.time = {300, 200, 250, 0};
    task.slices = {0, 2};
    task.awaits = {0, 1};
    made.tasks = {task};
    made.slices = {{200, 300, 0, 0}, {700, 900, 0, 1}};
    analysis::await_info await;
    await.task = 0;
    await.site = 1;
    await.waker_thread = 1;
    await.suspend_ns = 300;
    await.wake_ns = 500;
    await.resume_ns = 700;
    made.awaits = {await};
    analysis::event scope = scope_at(200, 900, 0);
    scope.detail = 0;
    scope.flags = analysis::event_in_frame | analysis::event_async;
    made.events = {scope};
    made.details = {{{300, 200, 200, 0}, 1, analysis::none}};
    return made;
}

}  // namespace coroscope_tests
