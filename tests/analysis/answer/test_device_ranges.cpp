// SPDX-License-Identifier: Apache-2.0

// Ranges that end when a device's stream reaches a point: the work of a range, its times on the
// device, and its time in the queue.

#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/chrome.hpp>
#include <coroscope/analysis/device_statistics.hpp>
#include <coroscope/analysis/events_of.hpp>
#include <coroscope/analysis/function_event.hpp>
#include <coroscope/analysis/views.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "../../support/json.hpp"
#include "../device_traces.hpp"
#include "../loading.hpp"

namespace coroscope::test {
namespace {

using texts = std::vector<std::string>;

constexpr std::uint32_t completed =
    trace::scope_dynamic | trace::scope_explicit | trace::scope_range;

/// A range of thread 1 that was tied to a stream, whose end another thread recorded.
void range(trace_builder& made, std::uint32_t serial, std::string_view name, std::int64_t start,
           std::int64_t attached, std::int64_t end, std::uint64_t task = 0,
           std::uint32_t stream = 7) {
    made.on(1).label(start, serial, name).range_wait(attached, serial, stream);
    made.on(9).long_scope(serial, start, end, completed, task, 1);
}

/// A kernel that `thread` asked for by a call at `asked`.
void run(trace_builder& made, std::string_view name, std::uint32_t number, std::int64_t asked,
         std::int64_t start, std::int64_t end, std::uint64_t task = 0, std::uint32_t thread = 1,
         std::uint32_t stream = 7) {
    device_values values = kernel(made.site(name), start, end, number, stream);
    values.task = task;
    values.queued = asked + 5;
    made.on(8).device(values).device_call(asked, asked + 2, number, 0, thread, task);
}

texts work_of(const analysis::trace& loaded, std::size_t range) {
    REQUIRE(range < loaded.device_ranges.size());
    texts names;
    for (const std::uint32_t at : loaded.device_ranges[range].work)
        names.push_back(
            loaded.strings[loaded.device_activities[loaded.stream_order[loaded.range_work[at]]]
                               .name]);
    CHECK(devices_are_sound(loaded));
    CHECK(shares_are_sound(loaded));
    return names;
}

/// A range from 100 to 800, tied to stream 7 at 200, of thread 1 outside tasks.
trace_builder upload() {
    trace_builder made;
    range(made, 1, "upload", 100, 200, 800);
    run(made, "before", 1, 90, 150, 300);
    run(made, "first", 2, 110, 300, 400);
    run(made, "second", 3, 150, 450, 600);
    run(made, "other's", 4, 160, 600, 650, 0, 2);
    run(made, "elsewhere", 5, 170, 300, 400, 0, 1, 8);
    run(made, "behind", 6, 210, 650, 700);
    return made;
}

TEST_CASE(
    "a range has the work that its thread asked the stream for before the range was tied to it") {
    const auto loaded = load(upload());
    REQUIRE(loaded.device_ranges.size() == 1);
    const analysis::device_range& range = loaded.device_ranges[0];
    CHECK(loaded.strings[range.name] == "upload");
    CHECK(range.start_ns == 100);
    CHECK(range.attached_ns == 200);
    CHECK(range.end_ns == 800);
    REQUIRE(range.event != analysis::none);
    CHECK(&loaded.events[range.event] == &event(loaded, "upload"));
    CHECK(work_of(loaded, 0) == texts{"first", "second"});
}

TEST_CASE("a range has its own start, end, time and queue on the device") {
    const auto loaded = load(upload());
    const analysis::device_share share = analysis::device_coverage(loaded).of_range(0);
    CHECK(share.waits == 1);
    CHECK(share.start_ns == 300);
    CHECK(share.end_ns == 600);
    CHECK(share.covered_ns == 250);
    // "first" waited for the kernel before it; "second" was ready when the stream was idle.
    CHECK(share.queued_ns == 50);
    const analysis::device_work work = analysis::work_of_range(loaded, 0);
    CHECK(work.kernels.count == 2);
    CHECK(work.streams == std::vector<std::uint32_t>{7});
    CHECK(analysis::device_coverage(loaded).of_range(1).waits == 0);
    CHECK(analysis::work_of_range(loaded, 1).empty());
}

TEST_CASE("a range without work, or with an unknown stream, has no device times") {
    trace_builder made;
    range(made, 1, "idle", 100, 200, 300);
    range(made, 2, "unknown", 400, 500, 600, 0, trace::device_unknown);
    run(made, "kernel", 1, 450, 500, 550);
    const auto loaded = load(made);
    const analysis::device_coverage coverage(loaded);
    CHECK(work_of(loaded, 0).empty());
    CHECK(coverage.of_range(0).waits == 1);
    CHECK_FALSE(coverage.of_range(0).start_ns.has_value());
    CHECK_FALSE(coverage.of_range(0).queued_ns.has_value());
    CHECK(work_of(loaded, 1).empty());
    CHECK(coverage.of_range(1).waits == 0);
    CHECK(coverage.of_range(1).unknown == 1);
}

TEST_CASE(
    "a task's range has the work that the task asked for on any thread, and no other task's work") {
    trace_builder made;
    made.on(1).spawn(50, 1, 0, trace::spawn_started);
    range(made, 1, "request", 100, 400, 800, 1);
    made.on(1).suspend(150, 1);
    made.on(2).resume(200, 1).suspend(390, 1);
    made.on(1).spawn(160, 2, 0, trace::spawn_started);
    run(made, "own", 1, 110, 500, 510, 1, 1);
    run(made, "own on another thread", 2, 210, 510, 520, 1, 2);
    run(made, "another task's", 3, 170, 520, 530, 2, 1);
    run(made, "the thread's", 4, 155, 530, 540, 0, 1);
    CHECK(work_of(load(made), 0) == texts{"own", "own on another thread"});
}

TEST_CASE("tasks spawned in a range, and tasks that these spawn, work for the range") {
    trace_builder made;
    made.on(1).spawn(50, 1, 0, trace::spawn_started).spawn(90, 5, 0, 0, 1);
    range(made, 1, "request", 100, 400, 800, 1);
    made.on(1).spawn(110, 2, 0, 0, 1).spawn(120, 3, 0, 0, 2);
    run(made, "child", 1, 200, 500, 510, 2, 3);
    run(made, "grandchild", 2, 210, 510, 520, 3, 4);
    run(made, "older child", 3, 220, 520, 530, 5, 3);
    run(made, "child afterwards", 4, 410, 530, 540, 2, 3);
    CHECK(work_of(load(made), 0) == texts{"child", "grandchild"});
}

TEST_CASE("a range outside tasks has the work of tasks that its thread spawned in the range") {
    trace_builder made;
    range(made, 1, "main", 100, 400, 800);
    made.on(1).spawn(110, 2);
    made.on(2).spawn(110, 3);
    run(made, "spawned here", 1, 200, 500, 510, 2, 3);
    run(made, "spawned elsewhere", 2, 210, 510, 520, 3, 3);
    CHECK(work_of(load(made), 0) == texts{"spawned here"});
}

TEST_CASE("nested ranges both have the work that was asked for inside both") {
    trace_builder made;
    range(made, 1, "outer", 100, 400, 800);
    range(made, 2, "inner", 150, 200, 700);
    range(made, 3, "other stream", 150, 300, 700, 0, 8);
    run(made, "in both", 1, 160, 500, 510);
    run(made, "in outer", 2, 300, 510, 520);
    const auto loaded = load(made);
    CHECK(work_of(loaded, 0) == texts{"in both", "in outer"});
    CHECK(work_of(loaded, 1) == texts{"in both"});
    CHECK(work_of(loaded, 2).empty());
}

TEST_CASE("equal ranges have different events") {
    trace_builder made;
    range(made, 1, "same", 100, 200, 800);
    range(made, 2, "same", 100, 300, 700);
    const auto loaded = load(made);
    REQUIRE(loaded.device_ranges.size() == 2);
    CHECK(loaded.device_ranges[0].event != loaded.device_ranges[1].event);
}

TEST_CASE("a range without an end is open, and a range whose label is lost is a warning") {
    trace_builder made;
    made.on(1).label(100, 1, "open").range_wait(200, 1).range_wait(300, 2);
    run(made, "kernel", 1, 150, 500, 510);
    const auto loaded = load(made);
    REQUIRE(loaded.device_ranges.size() == 1);
    CHECK_FALSE(loaded.device_ranges[0].end_ns.has_value());
    CHECK((loaded.events[loaded.device_ranges[0].event].flags & analysis::event_open) != 0);
    CHECK(work_of(loaded, 0) == texts{"kernel"});
    CHECK(std::count(loaded.health.warnings.begin(), loaded.health.warnings.end(),
                     "1 streams of devices end ranges whose label is lost") == 1);
}

TEST_CASE("a range has its work in its total only, and scopes keep their own device time") {
    auto made = upload();
    made.on(1).scope(made.site("launches"), 105, 180);
    const auto loaded = load(made);
    const auto averages = analysis::key_averages(loaded);
    for (const analysis::function_event_avg& row : averages) {
        if (row.name == "upload") {
            CHECK(row.device_time_total_ns == 100 + 150);
            CHECK(row.self_device_time_total_ns == 0);
        } else if (row.name == "launches") {
            CHECK(row.self_device_time_total_ns == 100 + 150 + 100);
        }
    }
    // By torch's rules an asynchronous event has no device time.
    const analysis::event_list list = analysis::events_of(loaded);
    for (const analysis::function_event each : list)
        if (each.name() == "upload") CHECK(each.device_time_total_ns() == 0);
}

TEST_CASE("the Chrome export of a range has the range's times on the device") {
    std::string text;
    REQUIRE(analysis::export_chrome(load(upload()), [&text](std::string_view part) {
        text += part;
        return true;
    }));
    const auto document = coroscope_tests::parse_json(text);
    for (const auto& each : document["traceEvents"].elements) {
        if (!each.has("args") || !each["args"].has("ended_by")) continue;
        CHECK(each["name"].text == "upload");
        const auto& of = each["args"];
        CHECK(of["ended_by"].text == "stream 7");
        CHECK(of["device_start_ns"].integer() == 300);
        CHECK(of["device_end_ns"].integer() == 600);
        CHECK(of["device_ns"].integer() == 250);
        CHECK(of["device_queued_ns"].integer() == 50);
        return;
    }
    FAIL("there is no such range");
}

}  // namespace
}  // namespace coroscope::test
