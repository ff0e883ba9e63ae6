// SPDX-License-Identifier: Apache-2.0

// The lanes of devices in the export for Chrome's viewers, and the arrows to and from them.

#include <coroscope/analysis/chrome.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../../support/json.hpp"
#include "../chrome_export.hpp"
#include "../loading.hpp"

namespace coroscope::test {
namespace {

using coroscope_tests::json;
using coroscope_tests::parse_json;
using what = trace::device_activity;
using coroscope_tests::texts;

json exported(const analysis::trace& from, analysis::chrome_totals* totals = nullptr) {
    return parse_json(coroscope_tests::exported(from, totals));
}

/// The complete events of a process: "name start..end", by lane.
std::map<std::string, texts> lanes_of(const json& document, const std::string& process) {
    std::map<long long, std::string> lanes;
    long long pid = -1;
    for (const json& each : document["traceEvents"].elements)
        if (each["name"].text == "process_name" && each["args"]["name"].text == process)
            pid = each["pid"].integer();
    std::map<std::string, texts> found;
    for (const json& each : document["traceEvents"].elements) {
        if (each["pid"].integer() != pid) continue;
        if (each["name"].text == "thread_name")
            lanes[each["tid"].integer()] = each["args"]["name"].text;
        if (each["ph"].text != "X" || each["cat"].text == "flow") continue;
        const long long start = each["ts"].nanoseconds();
        found[lanes[each["tid"].integer()]].push_back(
            each["name"].text + " " + std::to_string(start) + ".." +
            std::to_string(start + each["dur"].nanoseconds()));
    }
    return found;
}

/// The arrows as "from start -> to start", by the events they are bound to.
texts arrows(const json& document) {
    std::map<std::string, std::string> from, to;
    for (const json& each : document["traceEvents"].elements) {
        if (!each.has("ts")) continue;
        const std::string end = each["name"].text + " " + std::to_string(each["ts"].nanoseconds());
        if (each.has("flow_out")) from[each["bind_id"].text] = end;
        if (each.has("flow_in")) to[each["bind_id"].text] = end;
    }
    CHECK(from.size() == to.size());
    texts found;
    for (const auto& [id, start] : from) found.push_back(start + " -> " + to[id]);
    std::sort(found.begin(), found.end());
    return found;
}

TEST_CASE(
    "each device is a process, each of its streams a lane, and calls are on their threads' lanes") {
    trace_builder made;
    const auto gemm = made.site("gemm"), copy = made.site("copy"), launch = made.site("launch");
    made.device_name(0, "NVIDIA H100 80GB").device_name(1, "another");
    made.on(1)
        .device({.start = 100, .end = 200, .site = gemm})
        .device({what::copy, 150, 180, copy, 0, 0, 0, 0, 1, 8})
        .device({.start = 300, .end = 400, .site = gemm, .device = 1})
        .device({.start = 500, .end = 600, .site = gemm, .device = trace::device_unknown})
        .device({.start = 700, .end = 800, .site = gemm, .context = 2})
        .device_call(50, 60, 1, launch);
    analysis::chrome_totals totals;
    const json document = exported(load(made), &totals);
    CHECK(totals.device_activities == 6);
    CHECK(lanes_of(document, "NVIDIA H100 80GB") ==
          std::map<std::string, texts>{
              {"NVIDIA H100 80GB \xC2\xB7 stream 7", {"gemm 100..200"}},
              {"NVIDIA H100 80GB \xC2\xB7 stream 8", {"copy 150..180"}},
              {"NVIDIA H100 80GB \xC2\xB7 stream 7 (context 2)", {"gemm 700..800"}}});
    CHECK(lanes_of(document, "another").size() == 1);
    CHECK(lanes_of(document, "devices").size() == 1);
    CHECK(lanes_of(document, "test")["thread 1"] == texts{"launch 50..60"});
}

TEST_CASE("kernels that overlap on one stream never share a lane, in whatever order they come") {
    trace_builder made;
    const auto gemm = made.site("gemm");
    made.device_name(0, "a device");
    made.on(1)
        .device({.start = 150, .end = 260, .site = gemm})
        .device({.start = 100, .end = 200, .site = gemm})
        .device({.start = 110, .end = 120, .site = gemm});
    const auto lanes = lanes_of(exported(load(made)), "a device");
    CHECK(lanes ==
          std::map<std::string, texts>{{"a device \xC2\xB7 stream 7", {"gemm 100..200"}},
                                       {"overlapping 1", {"gemm 110..120", "gemm 150..260"}}});
}

TEST_CASE("a lane has the name of its stream") {
    trace_builder made;
    const auto gemm = made.site("gemm");
    made.device_name(0, "a device").stream_name(1, 7, "up\"loads").stream_name(2, 7, "another");
    made.on(1).device({.start = 100, .end = 200, .site = gemm});
    CHECK(lanes_of(exported(load(made)), "a device") ==
          std::map<std::string, texts>{
              {"a device \xC2\xB7 stream 7 (up\"loads)", {"gemm 100..200"}}});
}

TEST_CASE("a synchronization is not drawn on the lane of the stream that it waits for") {
    trace_builder made;
    const auto gemm = made.site("gemm"), sync = made.site("sync");
    made.device_name(0, "a device");
    made.on(1)
        .device({what::synchronization, 50, 300, sync})
        .device({what::synchronization, 60, 290, sync, 0, 0, 4})
        .device({.start = 100, .end = 200, .site = gemm})
        .device_call(55, 295, 4);
    const json document = exported(load(made));
    CHECK(lanes_of(document, "a device") ==
          std::map<std::string, texts>{{"a device \xC2\xB7 stream 7", {"gemm 100..200"}},
                                       {"a device \xC2\xB7 no stream", {"sync 50..300"}}});
    CHECK(lanes_of(document, "test")["thread 1"] == texts{"runtime call 55..295", "sync 60..290"});
}

TEST_CASE("an arrow leads from the call to each kernel that it asked for") {
    trace_builder made;
    const auto one = made.site("one"), two = made.site("two"), launch = made.site("launch");
    made.on(1)
        .device({.start = 100, .end = 200, .site = one, .correlation = 1})
        .device({.start = 50, .end = 60, .site = two, .correlation = 1})
        .device_call(50, 90, 1, launch);
    const json document = exported(load(made));
    CHECK(arrows(document) == texts{"launch 49 -> two 50", "launch 50 -> one 100"});
}

TEST_CASE("an arrow leads from the last awaited kernel of a stream to the resumed task") {
    trace_builder made;
    const auto one = made.site("one"), two = made.site("two"), later = made.site("later");
    made.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .device_wait(10, 1)
        .suspend(20, 1)
        .resume(400, 1)
        .finish(450, 1);
    made.on(2).wake(320, 1, 0, 2);
    made.on(2)
        .device({.start = 100, .end = 200, .site = one})
        .device({.start = 200, .end = 300, .site = two})
        .device({.start = 310, .end = 500, .site = later});
    const json document = exported(load(made));
    const texts found = arrows(document);
    REQUIRE(found.size() == 2);
    CHECK(found[0] == "awaited 299 -> after stream 7 400");
    CHECK(found[1].starts_with("wake 320 -> "));
}

TEST_CASE("the arguments of a device event have its task, stream, context, bytes, correlation and "
          "queue") {
    trace_builder made;
    const auto copy = made.site("copy");
    made.on(1).spawn(0, 5, 0, trace::spawn_started);
    made.on(1).device({what::copy, 150, 180, copy, 5, 0, 3, 0, 1, 8, 4096, 140});
    const json document = exported(load(made));
    for (const json& each : document["traceEvents"].elements) {
        if (each["name"].text != "copy") continue;
        CHECK(each["cat"].text == "copy");
        CHECK(each["args"]["task"].integer() == 5);
        CHECK(each["args"]["stream"].integer() == 8);
        CHECK(each["args"]["context"].integer() == 1);
        CHECK(each["args"]["bytes"].integer() == 4096);
        CHECK(each["args"]["correlation"].integer() == 3);
        CHECK(each["args"]["queued_ns"].integer() == 10);
        return;
    }
    FAIL("no copy");
}

TEST_CASE(
    "an await of a stream names the stream and the time that it explains, and losses are counted") {
    trace_builder made;
    made.header.lost_device_records = 4;
    made.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .device_wait(10, 1)
        .suspend(20, 1, made.site("gpu", "x.cpp", 3, trace::site_kind::await))
        .resume(400, 1)
        .finish(450, 1);
    device_values kernel{.start = 100, .end = 200};
    kernel.queued = 70;
    made.on(2).device(kernel);
    const json document = exported(load(made));
    CHECK(document["otherData"]["lost_device_records"].integer() == 4);
    for (const json& each : document["traceEvents"].elements) {
        if (each["name"].text != "await gpu") continue;
        CHECK(each["args"]["waited_for"].text == "stream 7");
        CHECK(each["args"]["device_ns"].integer() == 100);
        CHECK(each["args"]["device_queued_ns"].integer() == 30);
        return;
    }
    FAIL("no await");
}

TEST_CASE("the export survives invalid indices") {
    analysis::trace from;
    from.process_name = "service";
    from.duration_ns = 1000;
    analysis::device_activity activity;
    activity.start_ns = -5;
    activity.end_ns = 2000;
    activity.what = what::kernel;
    activity.name = activity.device = activity.task = activity.thread = activity.call = 99;
    from.device_activities = {activity};
    from.stream_order = {77};
    analysis::await_info await;
    await.task = 99;
    await.resume_ns = 900;
    from.awaits = {await};
    analysis::device_wait wait;
    wait.await = 0;
    wait.activities = {0, 3};
    from.device_waits = {wait};
    CHECK(lanes_of(exported(from), "devices").size() == 1);
    from.stream_order = {0};
    from.device_activities[0].start_ns = 10;
    from.device_activities[0].end_ns = 20;
    CHECK(arrows(exported(from)).empty());
}

}  // namespace
}  // namespace coroscope::test
