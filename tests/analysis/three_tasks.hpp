// SPDX-License-Identifier: Apache-2.0
#pragma once

// A trace of three tasks, made by hand, for tests of views.

#include <coroscope/analysis/model.hpp>

#include <cstdint>

namespace coroscope_tests {

/// Task 1 (handle) created task 2 (query) and waited for it. Task 1's second await has an unknown
/// wake.
inline coroscope::analysis::trace three_tasks() {
    using namespace coroscope::analysis;
    trace made;
    made.process_name = "service";
    made.process_id = 4242;
    made.clock = "tsc";
    made.policy = "drop newest";
    made.all_threads = true;
    made.duration_ns = 20'000'000;
    made.start_realtime_ns = 1'700'000'000'000'000'000;
    made.file_bytes = 4096;
    made.scope_cost_ns = 20.5;
    made.await_cost_ns = 41;
    made.strings = {"handle"};
    made.sites = {{"handle", "", "../src/server.cpp", 12, "", "", 3},
                  {"db.query", "", "/a/b/examples/service/store.cpp", 42, "", "", 2},
                  {"", "query(int)", "", 0, "", "", 3}};
    made.threads = {{1, 4242, "main", 0, 0, 0}, {2, 4243, "", 5, 0, 0}};
    made.tasks.resize(3);
    for (std::uint32_t at = 0; at < 3; ++at) {
        made.tasks[at].id = at + 1;
        made.tasks[at].state = task_state::finished;
        made.tasks[at].spawn_ns = 1'000;
        made.tasks[at].first_wake_ns = 1'000;
        made.tasks[at].end_ns = 12'301'000;
    }
    made.tasks[0].spawn_site = 0;
    made.tasks[0].time = {400'000, 11'000'000, 600'000, 300'000};
    made.tasks[0].slices = {0, 1};
    made.tasks[0].awaits = {0, 2};
    made.tasks[1].spawn_site = 2;
    made.tasks[1].parent = 0;
    made.tasks[1].awaiter = 0;
    made.tasks[2].state = task_state::suspended;
    made.tasks[2].end_ns.reset();
    made.slices = {{1'000, 401'000, 0, 0}};
    made.awaits.resize(2);
    made.awaits[0] = {0, 1, 0, 1, 1, 1, 401'000, 11'401'000, 12'001'000, false};
    made.awaits[1] = {0, none, none, none, none, none, 12'001'000, {}, 12'301'000, false};
    event scope;
    scope.name = 0;
    scope.thread = 0;
    made.events = {scope};
    return made;
}

}  // namespace coroscope_tests
