// SPDX-License-Identifier: Apache-2.0

// The lanes of the slowest requests in both timeline exports, and the names that tell lanes apart.

#include <coroscope/analysis/perfetto.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/request_statistics.hpp>
#include <doctest/doctest.h>

#include "../../support/json.hpp"
#include "../chrome_export.hpp"
#include "../export_traces.hpp"
#include "../small_traces.hpp"
#include "perfetto_decoding.hpp"

namespace {

using namespace coroscope;
using coroscope_tests::exported;
using coroscope_tests::json;
using coroscope_tests::trace_of_facts;

struct drawn_lane {
    std::string name;
    std::vector<const json*> bars;
};

/// The lanes of the process whose name ends with ": slowest requests", by tid.
std::map<long long, drawn_lane> request_lanes(const json& document) {
    long long pid = -1;
    for (const json& each : document["traceEvents"].elements)
        if (each["name"].text == "process_name" &&
            each["args"]["name"].text.ends_with(": slowest requests"))
            pid = each["pid"].integer();
    std::map<long long, drawn_lane> lanes;
    for (const json& each : document["traceEvents"].elements) {
        if (each["pid"].integer() != pid) continue;
        if (each["name"].text == "thread_name")
            lanes[each["tid"].integer()].name = each["args"]["name"].text;
        if (each["ph"].text == "X") lanes[each["tid"].integer()].bars.push_back(&each);
    }
    return lanes;
}

TEST_CASE("each of the slowest requests has a lane, the slowest first") {
    const analysis::trace from = trace_of_facts();
    const auto list = analysis::requests_of(from);
    const json document = coroscope_tests::json_parser(exported(from)).document();
    const auto lanes = request_lanes(document);
    REQUIRE(lanes.size() == list.requests.size());
    const auto slowest = analysis::find_slowest(list);
    CHECK(lanes.begin()->second.name.starts_with("1. "));
    CHECK((*lanes.begin()->second.bars.front())["dur"].nanoseconds() ==
          list.requests[*slowest].wall_ns());
}

TEST_CASE("the segments on a request's lane add up to the request") {
    const json document = coroscope_tests::json_parser(exported(trace_of_facts())).document();
    for (const auto& [tid, lane] : request_lanes(document)) {
        long long request = 0, segments = 0;
        for (const json* const each : lane.bars)
            ((*each)["cat"].text == "request_lane" ? request : segments) +=
                (*each)["dur"].nanoseconds();
        CHECK(request > 0);
        CHECK(segments == request);
    }
}

TEST_CASE("lanes of requests are in Perfetto's format, too") {
    std::string bytes;
    REQUIRE(analysis::export_perfetto(trace_of_facts(), [&](std::string_view part) {
                bytes += part;
                return true;
            }).has_value());
    CHECK(bytes.find(": slowest requests") != std::string::npos);
    CHECK(bytes.find("request_lane") != std::string::npos);
    CHECK(bytes.find("path_segment") != std::string::npos);
}

TEST_CASE("an await has the executor, the object and the outcome in its arguments") {
    const json document = coroscope_tests::json_parser(exported(trace_of_facts())).document();
    bool found = false;
    for (const json& each : document["traceEvents"].elements) {
        if (each["ph"].text != "X" || each["cat"].text != "await") continue;
        const json& arguments = each["args"];
        found = found || (arguments.has("object") && arguments["object"].text == "timer 3" &&
                          arguments.has("outcome") && arguments["outcome"].text == "error" &&
                          arguments.has("executor"));
    }
    CHECK(found);
}

TEST_CASE("waits for locks and resources, and blocking calls, are bars with their holders") {
    const analysis::trace from = trace_of_facts();
    const json document = coroscope_tests::json_parser(exported(from)).document();
    std::size_t waits = 0;
    bool has_holder = false;
    for (const json& each : document["traceEvents"].elements) {
        if (each["ph"].text != "X" || each["cat"].text != "wait") continue;
        ++waits;
        has_holder = has_holder || each["args"].has("holder_task");
    }
    CHECK(waits ==
          from.lock_waits.size() + from.resource_waits.size() + from.blocking_calls.size());
    CHECK(has_holder);
}

TEST_CASE("lanes of tasks of one site have numbers") {
    analysis::trace from = coroscope_tests::task_trace();
    analysis::task_info other = from.tasks[0];
    other.id = 8;
    other.slices = {2, 2};
    other.awaits = {1, 1};
    from.tasks.push_back(other);
    const json document = coroscope_tests::json_parser(exported(from)).document();
    std::vector<std::string> names;
    for (const json& each : document["traceEvents"].elements)
        if (each["name"].text == "thread_name") names.push_back(each["args"]["name"].text);
    CHECK(std::ranges::count(names, "handle (service.cpp:12)") == 1);
    CHECK(std::ranges::count(names, "handle (service.cpp:12) 2") == 1);
}

}  // namespace
