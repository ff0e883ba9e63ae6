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

namespace {

using namespace coroscope::analysis;
using coroscope_tests::json;
using coroscope_tests::parse_json;

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

event scope_at(std::int64_t start_ns, std::int64_t end_ns, std::uint32_t task = none) {
    event scope;
    scope.start_ns = start_ns;
    scope.end_ns = end_ns;
    scope.name = 0;
    scope.site = 0;
    scope.thread = 0;
    scope.task = task;
    return scope;
}

/// A process with two threads, one name and two sites.
trace empty_trace() {
    trace made;
    made.process_name = "service";
    made.process_id = 4242;
    made.duration_ns = 1'000'000;
    made.strings = {"handle"};
    made.sites = {{"handle", "", "src/service.cpp", 12, "http", "", 0},
                  {"db.query", "", "src/store.cpp", 42, "", "", 2}};
    made.threads = {{1, 4242, "main", 0, 0, 0}, {2, 4243, "worker", 0, 0, 0}};
    return made;
}

/// One task: spawned by the main thread at 100, first run at 200, suspended 300 to 700 with a wake
/// at 500 from the worker, finished at 900. A scope in its frame spans it.
trace task_trace() {
    trace made = empty_trace();
    task_info task;
    task.id = 7;
    task.spawn_site = 0;
    task.spawn_thread = 0;
    task.spawn_ns = 100;
    task.first_wake_ns = 150;
    task.end_ns = 900;
    task.state = task_state::finished;
    task.time = {300, 200, 250, 0};
    task.slices = {0, 2};
    task.awaits = {0, 1};
    made.tasks = {task};
    made.slices = {{200, 300, 0, 0}, {700, 900, 0, 1}};
    await_info await;
    await.task = 0;
    await.site = 1;
    await.waker_thread = 1;
    await.suspend_ns = 300;
    await.wake_ns = 500;
    await.resume_ns = 700;
    made.awaits = {await};
    event scope = scope_at(200, 900, 0);
    scope.detail = 0;
    scope.flags = event_in_frame | event_async;
    made.events = {scope};
    made.details = {{{300, 200, 200, 0}, 1, none}};
    return made;
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

TEST_CASE("threads and the tasks' lanes have names") {
    const json document = parse_json(exported(task_trace()));
    std::vector<std::string> names;
    for (const json* each : named(document, "thread_name"))
        names.push_back((*each)["args"]["name"].text);
    CHECK(names == std::vector<std::string>{"main (4242)", "worker (4243)", "tasks 1"});
    names.clear();
    for (const json* each : named(document, "process_name"))
        names.push_back((*each)["args"]["name"].text);
    CHECK(names == std::vector<std::string>{"service", "service: tasks"});
}

TEST_CASE("a task has its slices on the threads, and itself, its scope and its await on a lane") {
    chrome_totals totals;
    const json document = parse_json(exported(task_trace(), &totals));
    CHECK(totals.tasks == 1);
    CHECK(totals.slices == 2);
    CHECK(totals.scopes == 1);
    CHECK(totals.awaits == 1);
    CHECK(totals.left_out == 0);
    const auto lanes = lanes_of(document);
    REQUIRE(lanes.size() == 3);
    const std::vector<shown>& lane =
        lanes.rbegin()->second;  // the tasks' process has the greater id
    REQUIRE(lane.size() == 4);
    CHECK((lane[0].start == 150 && lane[0].end == 900));  // the task, from its first wake
    CHECK((lane[1].start == 200 && lane[1].end == 900));  // the scope
    CHECK((lane[2].start == 300 && lane[2].end == 700));  // the await
    CHECK((lane[3].start == 500 && lane[3].end == 700));  // queued
    const json& await = *named(document, "db.query").at(0);
    CHECK(await["args"]["at"].text == "src/store.cpp:42");
    const json& task = *named(document, "handle").at(0);
    CHECK(task["args"]["task"].integer() == 7);
    CHECK(task["args"]["suspended_ns"].integer() == 200);
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
    CHECK((*named(document, "db.query").at(0))["args"]["wake"].text == "unknown");
}

TEST_CASE("an await that never ended reaches to the session's end") {
    trace made = task_trace();
    made.tasks[0].end_ns.reset();
    made.awaits[0].resume_ns.reset();
    made.awaits[0].wake_ns.reset();
    made.events.clear();
    const json document = parse_json(exported(made));
    const json& await = *named(document, "db.query").at(0);
    CHECK(await["dur"].nanoseconds() == 1'000'000 - 300);
    CHECK_FALSE(await["args"]["resumed"].boolean);
    CHECK(count_overlaps(document) == 0);
}

TEST_CASE("a lane is used again by a task that does not overlap") {
    trace made = task_trace();
    made.tasks.push_back(made.tasks[0]);  // at the same time: a lane of its own
    made.tasks.push_back(made.tasks[0]);
    made.tasks[2].first_wake_ns = 900;  // when the others have ended
    made.tasks[2].end_ns = 950;
    for (std::size_t at : {1U, 2U}) made.tasks[at].slices = made.tasks[at].awaits = {};
    const json document = parse_json(exported(made));
    CHECK(count_overlaps(document) == 0);
    CHECK(named(document, "thread_name").size() == 4);  // two threads, two lanes
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
    CHECK(named(document, clean).size() == 5);
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
