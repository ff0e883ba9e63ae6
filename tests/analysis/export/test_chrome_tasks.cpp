// SPDX-License-Identifier: Apache-2.0

// Tasks in the export for Chrome's viewers: their slices, their awaits and the arrows to them.

#include <coroscope/analysis/chrome.hpp>

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "../../support/json.hpp"
#include "../chrome_export.hpp"
#include "../small_traces.hpp"

namespace {

using namespace coroscope::analysis;
using namespace coroscope_tests;

/// The bars on the lane of the only task, in file order: "name from..to".
std::vector<std::string> task_lane(const json& document) {
    std::vector<std::string> bars;
    for (const json& each : document["traceEvents"].elements) {
        if (each["ph"].text != "X" || each["pid"].integer() != 1) continue;
        const long long start = each["ts"].nanoseconds();
        bars.push_back(each["name"].text + " " + std::to_string(start) + ".." +
                       std::to_string(start + each["dur"].nanoseconds()));
    }
    return bars;
}

TEST_CASE("a task's slices are on the threads, and the task, its scope and its await on a lane of "
          "tasks") {
    chrome_totals totals;
    const json document = parse_json(exported(task_trace(), &totals));
    CHECK(totals.tasks == 1);
    CHECK(totals.slices == 2);
    CHECK(totals.scopes == 1);
    CHECK(totals.awaits == 1);
    CHECK(totals.left_out == 0);
    CHECK(lanes_of(document).size() == 3);
    const json& await = *named(document, "await db.query").at(0);
    CHECK(await["args"]["at"].text == "src/store.cpp:42");
    const json& task = *named(document, "handle").at(0);
    CHECK(task["args"]["task"].integer() == 7);
    CHECK(task["args"]["suspended_ns"].integer() == 200);
}

TEST_CASE("the lane of a task shows it queued, running, awaiting and queued again, in order") {
    CHECK(task_lane(parse_json(exported(task_trace()))) ==
          texts{"handle 150..900", "queued 150..200", "handle 200..900", "await db.query 300..500",
                "queued 500..700"});
}

TEST_CASE("an await that was ready at once is only queued") {
    trace made = task_trace();
    made.awaits[0].wake_ns = made.awaits[0].suspend_ns;
    CHECK(task_lane(parse_json(exported(made))) ==
          texts{"handle 150..900", "queued 150..200", "handle 200..900", "queued 300..700"});
}

/// task_trace() with a second await right behind the first. The second await is ready at once, as
/// if a strand had taken the completion of an operation. The task runs for 10 ns between the two.
trace hop_trace() {
    trace made = task_trace();
    made.tasks[0].asio = true;
    made.tasks[0].awaits = {0, 2};
    made.awaits.push_back(made.awaits[0]);
    made.awaits[1].suspend_ns = 710;
    made.awaits[1].wake_ns = 710;
    made.awaits[1].resume_ns = 850;
    made.slices = {{200, 300, 0, 0}, {700, 710, 0, 1}, {850, 900, 0, 0}};
    made.tasks[0].slices = {0, 3};
    return made;
}

TEST_CASE("the two hops that an Asio operation takes to a task's executor are one queued bar") {
    chrome_totals totals;
    const json document = parse_json(exported(hop_trace(), &totals));
    CHECK(task_lane(document) == texts{"handle 150..900", "queued 150..200", "handle 200..900",
                                       "await db.query 300..500", "queued 500..850"});
    CHECK(totals.awaits == 2);
    CHECK(totals.slices == 3);
}

TEST_CASE(
    "an await right behind another has a bar of its own if it is no hop of an Asio operation") {
    const auto queued_bars = [](const trace& made) {
        return named(parse_json(exported(made)), "queued").size();
    };
    trace made = hop_trace();
    REQUIRE(queued_bars(made) == 2);
    made.tasks[0].asio = false;
    CHECK(queued_bars(made) == 3);
    made = hop_trace();
    made.awaits[1].site = 0;
    CHECK(queued_bars(made) == 3);
    made = hop_trace();
    made.awaits[0].wake_ns = made.awaits[0].suspend_ns;
    CHECK(queued_bars(made) == 3);
    made = hop_trace();
    made.awaits[1].suspend_ns = 2000;  // it ran long enough to be seen
    made.awaits[1].wake_ns = 2000;
    made.awaits[1].resume_ns = 2100;
    made.tasks[0].end_ns = made.events[0].end_ns = 2200;
    CHECK(queued_bars(made) == 3);
}

TEST_CASE("an await is named after its label, the awaited task, the operation, or its place") {
    const auto await_name = [](const trace& made) {
        return task_lane(parse_json(exported(made)))[3];
    };
    trace made = task_trace();
    CHECK(await_name(made) == "await db.query 300..500");
    made.tasks.push_back({});
    made.tasks[1].spawn_site = 2;
    made.tasks[1].first_wake_ns = 999'999;
    made.sites.push_back({"", "load", "src/store.cpp", 7, "", "", 3});
    made.awaits[0].awaited = 1;
    CHECK(await_name(made) == "await db.query 300..500");
    made.sites[1].label.clear();
    made.sites[1].function = "handle";
    CHECK(await_name(made) == "await load 300..500");
    made.awaits[0].awaited = none;
    CHECK(await_name(made) == "await at store.cpp:42 300..500");
    made.sites[1] = {"socket.async_receive", "", "", 0, "", "", 4};
    CHECK(await_name(made) == "await socket.async_receive 300..500");
    made.awaits[0].awaited = 1;
    CHECK(await_name(made) == "await load 300..500");
    made.awaits[0].awaited = none;
    made.awaits[0].site = none;
    CHECK(await_name(made) == "await 300..500");
}

TEST_CASE("the await of a coroutine that is no task is named an await, too") {
    trace made = empty_trace();
    made.events = {scope_at(0, 10)};
    made.events[0].flags = event_await;
    CHECK(named(parse_json(exported(made)), "await handle").size() == 1);
}

TEST_CASE("an arrow leads from the spawn, and one from the wake, to the slice that followed") {
    chrome_totals totals;
    const json document = parse_json(exported(task_trace(), &totals));
    CHECK(totals.flows == 2);
    std::map<std::string, long long> from;
    std::map<std::string, long long> to;
    for (const json& each : document["traceEvents"].elements) {
        if (each.has("flow_out")) from[each["bind_id"].text] = each["ts"].nanoseconds();
        if (each.has("flow_in")) to[each["bind_id"].text] = each["ts"].nanoseconds();
    }
    CHECK(from == std::map<std::string, long long>{{"0x1", 100}, {"0x2", 500}});
    CHECK(to == std::map<std::string, long long>{{"0x1", 200}, {"0x2", 700}});
}

TEST_CASE("an arrow of a hand-over starts before its slice, so that viewers keep it") {
    trace made = task_trace();
    made.awaits[0].wake_ns = made.awaits[0].resume_ns;
    const json document = parse_json(exported(made));
    const json& wake = *named(document, "wake").at(0);
    CHECK(wake["ts"].nanoseconds() == 699);
    CHECK(wake["bind_id"].text == "0x2");
}

TEST_CASE("an arrow whose source is unknown is not drawn") {
    trace made = task_trace();
    made.tasks[0].spawn_thread = none;
    made.awaits[0].wake_ns.reset();
    const json document = parse_json(exported(made));
    for (const json& each : document["traceEvents"].elements) {
        CHECK_FALSE(each.has("flow_in"));
        CHECK_FALSE(each.has("flow_out"));
    }
    CHECK((*named(document, "await db.query").at(0))["args"]["wake"].text == "unseen");
}

TEST_CASE("an await that never ended lasts until the session's end") {
    trace made = task_trace();
    made.tasks[0].end_ns.reset();
    made.awaits[0].resume_ns.reset();
    made.awaits[0].wake_ns.reset();
    made.events.clear();
    const json document = parse_json(exported(made));
    const json& await = *named(document, "await db.query").at(0);
    CHECK(await["dur"].nanoseconds() == 1'000'000 - 300);
    CHECK_FALSE(await["args"]["resumed"].boolean);
    CHECK(count_overlaps(document) == 0);
}

}  // namespace
