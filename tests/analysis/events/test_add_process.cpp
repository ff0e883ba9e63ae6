// SPDX-License-Identifier: Apache-2.0

// Traces of several processes as one, from models made by hand.

#include <coroscope/analysis/add_process.hpp>
#include <coroscope/analysis/table.hpp>
#include <coroscope/analysis/task_statistics.hpp>

#include <doctest/doctest.h>

#include "../three_tasks.hpp"

namespace {

using namespace coroscope::analysis;
using coroscope_tests::three_tasks;

TEST_CASE("an empty trace takes over the first process as it is") {
    trace all;
    add_process(all, three_tasks());
    CHECK(all.process_name == "service");
    CHECK(all.tasks.size() == 3);
    CHECK(all.tasks[1].awaiter == 0);
    CHECK(all.awaits[0].suspend_ns == 401'000);
}

TEST_CASE("a site of two processes has the largest frame of both") {
    trace all = three_tasks();
    trace more = three_tasks();
    all.sites[0].frame_bytes = 128;
    more.sites[0].frame_bytes = 192;
    all.sites[1].frame_bytes = 256;
    add_process(all, more);
    CHECK(all.sites[0].frame_bytes == 192);
    CHECK(all.sites[1].frame_bytes == 256);
}

TEST_CASE("equal sites and texts of two processes become one, and others are added") {
    trace all;
    add_process(all, three_tasks());
    trace more = three_tasks();
    more.strings = {"another", "handle"};
    more.events[0].name = 1;
    more.sites.insert(more.sites.begin(), {"first", "", "", 1, "", "", 0});
    more.tasks.update([](task_info& each, std::size_t) {
        if (each.spawn_site != none) ++each.spawn_site;
        return true;
    });
    add_process(all, more);
    CHECK(all.strings == std::vector<std::string>{"handle", "another"});
    CHECK(all.events[1].name == 0);
    CHECK(all.sites.size() == 4);
    CHECK(all.sites[all.tasks[3].spawn_site].label == "handle");
    const table_input table = table_of(all);
    REQUIRE(table.rows.size() == 1);
    CHECK(table.rows[0].count == 2);
    CHECK(task_statistics(all).size() == task_statistics(three_tasks()).size());
}

TEST_CASE(
    "the indices of an added process refer to its own tasks, slices, awaits, events and threads") {
    trace all;
    add_process(all, three_tasks());
    add_process(all, three_tasks());
    REQUIRE(all.tasks.size() == 6);
    CHECK(all.tasks[4].parent == 3);
    CHECK(all.tasks[4].awaiter == 3);
    CHECK(all.tasks[3].slices.front() == 1);
    CHECK(all.tasks[3].awaits.front() == 2);
    CHECK(all.tasks[3].awaits.size() == 2);
    CHECK(all.tasks[5].awaits.empty());
    CHECK(all.slices[1].task == 3);
    CHECK(all.slices[1].thread == 2);
    CHECK(all.awaits[2].task == 3);
    CHECK(all.awaits[2].awaited == 4);
    CHECK(all.awaits[2].waker_thread == 3);
    CHECK(all.awaits[3].waker == none);
    CHECK(all.events[1].thread == 2);
    CHECK(all.events[1].parent == none);
    CHECK(all.events[1].task == none);
}

TEST_CASE("times count from the start of the first process, even in a process that began earlier") {
    trace all;
    add_process(all, three_tasks());
    trace later = three_tasks();
    later.start_realtime_ns += 5'000'000;
    trace earlier = three_tasks();
    earlier.start_realtime_ns -= 5'000;
    add_process(all, later);
    add_process(all, earlier);
    CHECK(all.duration_ns == 25'000'000);
    CHECK(all.tasks[3].spawn_ns == 5'001'000);
    CHECK(all.awaits[2].resume_ns == 17'001'000);
    CHECK_FALSE(all.awaits[3].wake_ns.has_value());
    CHECK_FALSE(all.tasks[5].end_ns.has_value());
    CHECK(all.slices[2].start_ns == -4'000);
}

TEST_CASE("executors and objects of a later process keep their tasks and awaits") {
    trace all;
    trace first = three_tasks();
    first.executors.resize(2);
    first.objects.resize(3);
    add_process(all, first);
    trace more = three_tasks();
    more.executors.resize(2);
    more.executors[1].name = "strand";
    more.executors[1].inner = 0;
    more.objects.resize(1);
    more.objects[0].name = "timer";
    more.tasks[1].executor = 1;
    more.awaits[0].executor = 0;
    more.awaits[0].object = 0;
    add_process(all, more);
    CHECK(all.executors[all.tasks[4].executor].name == "strand");
    CHECK(all.executors[3].inner == 2);
    CHECK(all.awaits[2].executor == 2);
    CHECK(all.objects[all.awaits[2].object].name == "timer");
    CHECK(all.tasks[3].executor == none);
}

TEST_CASE("values of several processes are in the order of their times") {
    trace all;
    trace later = three_tasks();
    later.values.resize(1);
    later.values[0].time_ns = 700;
    add_process(all, later);
    trace earlier = three_tasks();
    earlier.values.resize(1);
    earlier.values[0].time_ns = 200;
    add_process(all, earlier);
    REQUIRE(all.values.size() == 2);
    CHECK(all.values[0].time_ns == 200);
}

TEST_CASE("losses add up, and a process that died is reported even if another still records") {
    trace all;
    trace losing = three_tasks();
    losing.health.dropped_newest = 3;
    losing.health.warnings = {"odd"};
    add_process(all, losing);
    add_process(all, losing);
    CHECK(all.health.dropped_newest == 6);
    CHECK(all.health.warnings.size() == 2);
    CHECK(all.health.finished);
    CHECK_FALSE(all.health.being_recorded);
    trace recording = three_tasks();
    recording.health.finished = false;
    recording.health.being_recorded = true;
    add_process(all, recording);
    CHECK_FALSE(all.health.finished);
    CHECK(all.health.being_recorded);
    trace dead = three_tasks();
    dead.health.finished = false;
    add_process(all, dead);
    add_process(all, recording);
    CHECK_FALSE(all.health.being_recorded);
}

}  // namespace
