// SPDX-License-Identifier: Apache-2.0

// The export for Chrome's trace viewers: its structure, and data that viewers silently drop.

#include <coroscope/analysis/chrome.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "../../support/json.hpp"
#include "../chrome_export.hpp"
#include "../small_traces.hpp"

namespace {

using namespace coroscope::analysis;
using namespace coroscope_tests;

TEST_CASE("times are microseconds with three decimals or more, exact to the nanosecond") {
    trace made = empty_trace();
    made.events = {scope_at(1'234'567'890'123'456, 1'234'567'890'123'457)};
    const std::string text = exported(made);
    CHECK(text.find("\"ts\":1234567890123.456,\"dur\":0.00") != std::string::npos);
    const json document = parse_json(text);
    for (const json* each : named(document, "handle")) CHECK((*each)["dur"].nanoseconds() == 1);
}

TEST_CASE("the document is an object with a unit that viewers know, and counts the losses") {
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

TEST_CASE("impossible times are clamped to times that viewers accept") {
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

TEST_CASE("names longer than the buffer, and events across its end, are written whole") {
    trace made = empty_trace();
    made.strings[0] = std::string(3'000'000, 'x');
    made.events = {scope_at(0, 10), scope_at(1, 2)};
    for (std::int64_t at = 0; at < 20'000; ++at) made.events.push_back(scope_at(20 + at, 21 + at));
    for (std::size_t at = 2; at < made.events.size(); ++at) made.events[at].name = none;
    CHECK(parse_json(exported(made))["traceEvents"].elements.size() == 2 + 4 + 20'002);
}

}  // namespace
