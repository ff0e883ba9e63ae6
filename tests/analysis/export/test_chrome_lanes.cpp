// SPDX-License-Identifier: Apache-2.0

// The lanes in the export for Chrome's viewers: their owners, and that no two events of a lane
// overlap.

#include <coroscope/analysis/chrome.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../support/json.hpp"
#include "../chrome_export.hpp"
#include "../small_traces.hpp"

namespace {

using namespace coroscope::analysis;
using namespace coroscope_tests;

/// The text of an argument of every event of that name, in file order.
std::vector<std::string> arguments_of(const json& document, const std::string& name,
                                      const std::string& argument) {
    std::vector<std::string> found;
    for (const json* each : named(document, name)) found.push_back((*each)["args"][argument].text);
    return found;
}

TEST_CASE("a thread's lane has the name and the system's id of the thread") {
    const json document = parse_json(exported(task_trace()));
    texts lanes;
    for (const json* each : named(document, "thread_name")) {
        if ((*each)["pid"].integer() == 4242)
            lanes.push_back((*each)["args"]["name"].text + " " + (*each)["tid"].text);
    }
    CHECK(lanes == texts{"main 4242", "worker 4250"});
}

TEST_CASE("two threads that had the same system id, one after the other, have a lane each") {
    trace made = empty_trace();
    made.threads[1].os_id = made.threads[0].os_id;
    made.events = {scope_at(0, 10), scope_at(5, 20)};
    made.events[1].thread = 1;
    const json document = parse_json(exported(made));
    CHECK(lanes_of(document).size() == 2);
    CHECK(arguments_of(document, "thread_name", "name") == texts{"main", "worker"});
}

TEST_CASE("a lane of tasks is named after the place that spawns them") {
    trace made = task_trace();
    CHECK(arguments_of(parse_json(exported(made)), "thread_name", "name").back() ==
          "handle (service.cpp:12)");
    made.sites[0].file.clear();
    CHECK(arguments_of(parse_json(exported(made)), "thread_name", "name").back() == "handle");
    made.tasks[0].spawn_site = none;
    CHECK(arguments_of(parse_json(exported(made)), "thread_name", "name").back() ==
          "tasks of unknown origin");
}

TEST_CASE("the process of the tasks has a short id that is not the real process's") {
    trace made = task_trace();
    const auto pids = [](const json& document) {
        texts found;
        for (const json* each : named(document, "process_name"))
            found.push_back((*each)["args"]["name"].text + " " + (*each)["pid"].text);
        return found;
    };
    CHECK(pids(parse_json(exported(made))) == texts{"service 4242", "service: tasks 1"});
    made.process_id = 1;
    CHECK(pids(parse_json(exported(made))) == texts{"service 1", "service: tasks 2"});
}

TEST_CASE("a task of the same place that does not overlap uses a lane again") {
    trace made = task_trace();
    made.tasks.push_back(made.tasks[0]);  // at the same time: a lane of its own
    made.tasks.push_back(made.tasks[0]);
    made.tasks[2].first_wake_ns = 900;  // when the others have ended
    made.tasks[2].end_ns = 950;
    for (std::size_t at : {1U, 2U}) made.tasks[at].slices = made.tasks[at].awaits = {};
    const json document = parse_json(exported(made));
    CHECK(count_overlaps(document) == 0);
    CHECK(named(document, "thread_name").size() == 4);  // two threads, two lanes
    made.tasks[2].spawn_site = 1;
    CHECK(named(parse_json(exported(made)), "thread_name").size() == 5);
}

TEST_CASE("spans that overlap never share a lane") {
    trace made = task_trace();
    for (std::int64_t at = 0; at < 60; ++at) {
        made.events.push_back(scope_at(10 * at, 10 * at + 25 + at % 7));    // on a thread
        event moved = scope_at(205 + 10 * at, 230 + 10 * at + at % 11, 0);  // in the task
        moved.detail = 0;
        moved.flags = event_in_frame;
        made.events.push_back(moved);
        made.slices.push_back({400 + 3 * at, 410 + 3 * at, 0, 0});
    }
    const json document = parse_json(exported(made));
    CHECK(count_overlaps(document) == 0);
    CHECK(named(document, "handle").size() == 1 + 2 + 60 + 1 + 120);
}

TEST_CASE("the check for overlaps can fail") {
    const char* overlapping = R"({"traceEvents":[
        {"ph":"X","pid":1,"tid":1,"ts":0.000,"dur":2.000,"name":"a"},
        {"ph":"X","pid":1,"tid":1,"ts":1.000,"dur":2.000,"name":"b"}]})";
    CHECK(count_overlaps(parse_json(overlapping)) == 1);
}

TEST_CASE("a trace that overlaps everywhere has a bounded number of lanes, and counts the scopes "
          "left out") {
    trace made = empty_trace();
    for (std::int64_t at = 0; at < 1000; ++at) made.events.push_back(scope_at(at, 10'000 + at));
    chrome_totals totals;
    const json document = parse_json(exported(made, &totals));
    CHECK(totals.left_out + totals.scopes == 1000);
    CHECK(totals.left_out > 0);
    CHECK(document["otherData"]["left_out"].integer() == static_cast<long long>(totals.left_out));
    CHECK(count_overlaps(document) == 0);
}

}  // namespace
