// SPDX-License-Identifier: Apache-2.0

// The export for Chrome's trace viewers: its structure, and what viewers drop without a word.

#include <coroscope/analysis/chrome.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../support/json.hpp"
#include "small_traces.hpp"

namespace {

using namespace coroscope::analysis;
using coroscope_tests::empty_trace;
using coroscope_tests::json;
using coroscope_tests::parse_json;
using coroscope_tests::scope_at;
using coroscope_tests::task_trace;

std::string exported(const trace& from, chrome_totals* totals = nullptr) {
    std::string text;
    const auto done = export_chrome(from, [&text](std::string_view more) {
        text += more;
        return true;
    });
    REQUIRE(done.has_value());
    if (totals != nullptr) *totals = *done;
    return text;
}

struct shown {
    long long start;
    long long end;
};

/// The complete events by (pid, tid), in file order.
std::map<std::pair<long long, long long>, std::vector<shown>> lanes_of(const json& document) {
    std::map<std::pair<long long, long long>, std::vector<shown>> lanes;
    for (const json& each : document["traceEvents"].elements) {
        if (each["ph"].text != "X") continue;
        const long long start = each["ts"].nanoseconds();
        lanes[{each["pid"].integer(), each["tid"].integer()}].push_back(
            {start, start + each["dur"].nanoseconds()});
    }
    return lanes;
}

/// How many pairs of complete events on one lane overlap without one holding the other.
int count_overlaps(const json& document) {
    int overlaps = 0;
    for (const auto& [where, events] : lanes_of(document)) {
        for (std::size_t left = 0; left < events.size(); ++left) {
            for (std::size_t right = 0; right < left; ++right) {
                const shown& first =
                    events[left].start <= events[right].start ? events[left] : events[right];
                const shown& second =
                    events[left].start <= events[right].start ? events[right] : events[left];
                const bool apart = second.start >= first.end;
                const bool nested = second.end <= first.end ||
                                    (first.start == second.start && first.end <= second.end);
                if (!apart && !nested) ++overlaps;
            }
        }
    }
    return overlaps;
}

std::vector<const json*> named(const json& document, const std::string& name) {
    std::vector<const json*> found;
    for (const json& each : document["traceEvents"].elements) {
        if (each["name"].text == name) found.push_back(&each);
    }
    return found;
}

TEST_CASE("times are microseconds with three decimals, exact to the nanosecond") {
    trace made = empty_trace();
    made.events = {scope_at(1'234'567'890'123'456, 1'234'567'890'123'457)};
    const std::string text = exported(made);
    CHECK(text.find("\"ts\":1234567890123.456,\"dur\":0.001,") != std::string::npos);
}

TEST_CASE("the document is an object with a unit that viewers know, and tells what was lost") {
    trace made = empty_trace();
    made.health.dropped_newest = 3;
    const json document = parse_json(exported(made));
    CHECK(document["displayTimeUnit"].text == "ns");
    CHECK(document["otherData"]["dropped_newest"].integer() == 3);
    CHECK(document["traceEvents"].is == json::kind::array);
}

TEST_CASE("every event has a name, a process and a lane below 2^32") {
    trace made = task_trace();
    made.strings[0].clear();
    made.sites[0].label.clear();
    const json document = parse_json(exported(made));
    for (const json& each : document["traceEvents"].elements) {
        CHECK_FALSE(each["name"].text.empty());
        CHECK(each["pid"].integer() >= 0);
        CHECK(each["tid"].integer() < (1LL << 32));
    }
}

/// The text of an argument of every event of that name, in file order.
std::vector<std::string> arguments_of(const json& document, const std::string& name,
                                      const std::string& argument) {
    std::vector<std::string> found;
    for (const json* each : named(document, name)) found.push_back((*each)["args"][argument].text);
    return found;
}

/// What stands on the lane of the only task, in file order: "name from..to".
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

using texts = std::vector<std::string>;

TEST_CASE("a thread's lane has the thread's name and the system's id of it") {
    const json document = parse_json(exported(task_trace()));
    texts lanes;
    for (const json* each : named(document, "thread_name")) {
        if ((*each)["pid"].integer() == 4242)
            lanes.push_back((*each)["args"]["name"].text + " " + (*each)["tid"].text);
    }
    CHECK(lanes == texts{"main 4242", "worker 4250"});
}

TEST_CASE("two threads that had one id of the system, one after the other, have a lane each") {
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

TEST_CASE("a task has its slices on the threads, and itself, its scope and its await on a lane") {
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

TEST_CASE("on its lane a task is queued, runs, awaits and is queued, one behind the other") {
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

/// The same with a second await behind the first, which is ready at once: what a strand does with
/// the completion of an operation. The run between the two takes 10 ns.
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

TEST_CASE("an await behind another is shown as one of its own where it is no hop") {
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

TEST_CASE("an await is called after its label, what it awaits, the operation, or where it stands") {
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

TEST_CASE("an await in a coroutine that is no task is called one, too") {
    trace made = empty_trace();
    made.events = {scope_at(0, 10)};
    made.events[0].flags = event_await;
    CHECK(named(parse_json(exported(made)), "await handle").size() == 1);
}

TEST_CASE("an arrow leads from the spawn and from the wake to the slice that followed") {
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

TEST_CASE("an arrow of a hand-over starts before the slice it leads to, or viewers lose it") {
    trace made = task_trace();
    made.awaits[0].wake_ns = made.awaits[0].resume_ns;
    const json document = parse_json(exported(made));
    const json& wake = *named(document, "wake").at(0);
    CHECK(wake["ts"].nanoseconds() == 699);
    CHECK(wake["bind_id"].text == "0x2");
}

TEST_CASE("an arrow whose source nobody saw is not drawn at all") {
    trace made = task_trace();
    made.tasks[0].spawn_thread = none;
    made.awaits[0].wake_ns.reset();
    const json document = parse_json(exported(made));
    for (const json& each : document["traceEvents"].elements) {
        CHECK_FALSE(each.has("flow_in"));
        CHECK_FALSE(each.has("flow_out"));
    }
    CHECK((*named(document, "await db.query").at(0))["args"]["wake"].text == "unknown");
}

TEST_CASE("an await that never ended reaches to the session's end") {
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

TEST_CASE("a lane is used again by a task of the same place that does not overlap") {
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

TEST_CASE(
    "a trace that overlaps everywhere has a bounded number of lanes and says what was left out") {
    trace made = empty_trace();
    for (std::int64_t at = 0; at < 1000; ++at) made.events.push_back(scope_at(at, 10'000 + at));
    chrome_totals totals;
    const json document = parse_json(exported(made, &totals));
    CHECK(totals.left_out + totals.scopes == 1000);
    CHECK(totals.left_out > 0);
    CHECK(document["otherData"]["left_out"].integer() == static_cast<long long>(totals.left_out));
    CHECK(count_overlaps(document) == 0);
}

TEST_CASE("a scope that moved outside every task is an asynchronous event with a local id") {
    trace made = empty_trace();
    for (std::int64_t at : {0, 5}) {
        event scope = scope_at(at, 100 + at);
        scope.detail = 0;
        scope.flags = event_in_frame | event_suspension_unknown;
        made.events.push_back(scope);
    }
    made.details = {{{0, 0, 0, 100}, 1, none}};
    const json document = parse_json(exported(made));
    std::map<std::string, int> open;
    for (const json* each : named(document, "handle")) {
        CHECK((*each)["cat"].text == "http");
        CHECK_FALSE(each->has("id"));
        open[(*each)["id2"]["local"].text] += (*each)["ph"].text == "b" ? 1 : -1;
    }
    CHECK(open == std::map<std::string, int>{{"0x1", 0}, {"0x2", 0}});
    CHECK((*named(document, "handle").at(0))["args"]["suspension"].text == "unknown");
}

TEST_CASE("a hostile name is escaped in every place it appears") {
    const std::string hostile = "a\"b\\c\nd\x01\x1b\x7f\xff" + std::string(5000, 'n');
    trace made = task_trace();
    made.process_name = made.strings[0] = hostile;
    made.strings.push_back(hostile);
    made.details[0].arguments = 1;
    made.threads[0].name = hostile;
    for (site_info& site : made.sites) site.label = site.file = site.category = hostile;
    const json document = parse_json(exported(made));
    const std::string clean = "a\"b\\c\nd\x01\x1b\x7f\xef\xbf\xbd" + std::string(5000, 'n');
    CHECK(named(document, clean).size() == 4);
    CHECK(named(document, "await " + clean).size() == 1);
    CHECK((*named(document, "process_name").at(0))["args"]["name"].text == clean);
}

TEST_CASE("times that no session can have are brought to where viewers take them") {
    trace made = task_trace();
    made.events = {scope_at(-500, -100), scope_at(300, 200), scope_at(0, INT64_MAX)};
    made.tasks[0].first_wake_ns = INT64_MIN;
    made.tasks[0].end_ns = INT64_MIN;
    made.slices[0] = {INT64_MAX, INT64_MIN, 99, 99};
    made.awaits[0].task = 99;
    const json document = parse_json(exported(made));
    CHECK(count_overlaps(document) == 0);
    for (const json& each : document["traceEvents"].elements) {
        if (each.has("ts")) CHECK(each["ts"].nanoseconds() >= 0);
    }
}

TEST_CASE("a sink that refuses ends the export with a failure") {
    trace made = empty_trace();
    for (std::int64_t at = 0; at < 50'000; ++at) made.events.push_back(scope_at(at, at));
    int calls = 0;
    const auto done = export_chrome(made, [&calls](std::string_view) { return ++calls < 2; });
    CHECK_FALSE(done.has_value());
    CHECK(calls == 2);
}

TEST_CASE("what is written does not depend on where the buffer ends") {
    trace made = empty_trace();
    made.strings[0] = std::string(3'000'000, 'x');
    made.events = {scope_at(0, 10), scope_at(1, 2)};
    for (std::int64_t at = 0; at < 20'000; ++at) made.events.push_back(scope_at(20 + at, 21 + at));
    for (std::size_t at = 2; at < made.events.size(); ++at) made.events[at].name = none;
    CHECK(parse_json(exported(made))["traceEvents"].elements.size() == 2 + 4 + 20'002);
}

}  // namespace
