// SPDX-License-Identifier: Apache-2.0

// Awaits of events, and the device work that they waited for: the work that their stream was asked
// for before the event was recorded, and the work of other streams for which their stream had to
// wait.

#include <coroscope/analysis/device_statistics.hpp>
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

/// Task 1 awaits from 100 on, goes on at 900, and is woken at 800.
void await_with(trace_builder& made, const auto& wait) {
    thread_writer writer = made.on(1);
    writer.spawn(0, 1, 0, trace::spawn_started);
    wait(writer);
    writer.suspend(100, 1, made.site("gpu", "a.cpp", 1, trace::site_kind::await)).resume(900, 1);
    made.on(2).wake(800, 1);
}

/// A kernel of that name that ran then, asked for by a call of that number at `asked`.
void run(trace_builder& made, std::string_view name, std::uint32_t stream, std::uint32_t number,
         std::int64_t asked, std::int64_t start, std::int64_t end) {
    made.on(3)
        .device(kernel(made.site(name), start, end, number, stream))
        .device_call(asked, asked + 2, number);
}

/// A call that records an event or waits for one.
void call(trace_builder& made, std::uint32_t number, std::int64_t at) {
    made.on(3).device_call(at, at + 2, number);
}

/// The work that task 1's first await waited for, by stream.
texts awaited_by_task(const analysis::trace& loaded) {
    texts all;
    for (const std::uint32_t wait :
         analysis::find_device_waits(loaded, task(loaded, 1).awaits[0])) {
        const analysis::device_wait& of = loaded.device_waits[wait];
        std::string text = of.stream == analysis::none ? "unknown" : std::to_string(of.stream);
        if (of.is_indirect) text += "*";
        for (const std::string& name : awaited(loaded, of)) text += " " + name;
        all.push_back(text);
    }
    CHECK(devices_are_sound(loaded));
    CHECK(shares_are_sound(loaded));
    return all;
}

analysis::device_share share_of(const analysis::trace& loaded) {
    return analysis::device_coverage(loaded).of(task(loaded, 1).awaits[0]);
}

TEST_CASE("an await of an event waited for the work of its stream before the event, and for no "
          "later work") {
    trace_builder made;
    await_with(made, [](thread_writer& on) { on.event_wait(95, 1, 5); });
    run(made, "done", 7, 1, 10, 20, 40);
    run(made, "before", 7, 2, 30, 150, 250);
    call(made, 5, 50);
    run(made, "after", 7, 6, 60, 300, 400);
    run(made, "elsewhere", 8, 3, 30, 150, 250);
    const auto loaded = load(made);
    CHECK(awaited_by_task(loaded) == texts{"7 before"});
    CHECK(share_of(loaded).covered_ns == 100);
    CHECK(loaded.device_waits[0].is_event);
    CHECK(loaded.device_waits[0].correlation == 5);
}

TEST_CASE("the event's record decides, even if the task awaits the event much later") {
    trace_builder made;
    await_with(made, [](thread_writer& on) { on.event_wait(95, 1, 5, 8); });
    run(made, "first", 7, 1, 10, 120, 200);
    call(made, 4, 20);  // recorded the event in stream 7 before
    run(made, "second", 8, 2, 25, 150, 300);
    call(made, 5, 30);
    run(made, "third", 8, 6, 40, 300, 500);
    CHECK(awaited_by_task(load(made)) == texts{"8 second"});
}

TEST_CASE("the last call of a reused number before the await recorded the event") {
    trace_builder made;
    await_with(made, [](thread_writer& on) { on.event_wait(95, 1, 5); });
    run(made, "old", 7, 1, 10, 150, 200);
    call(made, 5, 15);
    run(made, "new", 7, 2, 20, 200, 250);
    call(made, 5, 40);
    run(made, "after", 7, 3, 50, 250, 300);
    call(made, 5, 500);
    CHECK(awaited_by_task(load(made)) == texts{"7 old new"});
}

TEST_CASE("an event whose record is unknown explains nothing, and the rows say so") {
    const auto build = [](std::uint32_t stream, std::uint32_t number) {
        trace_builder made;
        await_with(made, [&](thread_writer& on) {
            on.event_wait(95, 1, number, stream,
                          stream == trace::device_unknown ? trace::device_unknown : 1);
        });
        run(made, "kernel", 7, 1, 10, 150, 250);
        return load(made);
    };
    // An unknown stream, and a call that is not in the trace.
    for (const auto& loaded : {build(trace::device_unknown, 0), build(7, 99)}) {
        CHECK(awaited_by_task(loaded) == texts{"unknown"});
        CHECK(share_of(loaded).waits == 0);
        CHECK(share_of(loaded).unknown == 1);
        const auto rows = coroscope_tests::parse_json(
            analysis::to_json(analysis::list_task_awaits(loaded, index_of(loaded, 1))));
        CHECK(rows.elements[0]["device_ns"].is == coroscope_tests::json::kind::null);
        CHECK(rows.elements[0]["waited_for"].text == "a stream that is not known");
        const auto sites = coroscope_tests::parse_json(analysis::to_json(
            analysis::list_await_sites(loaded, analysis::await_statistics(loaded))));
        CHECK(sites.elements[0]["device_ns"].is == coroscope_tests::json::kind::null);
        CHECK(sites.elements[0]["waited_for"].text == "a stream that is not known");
    }
}

TEST_CASE("a task waited for both records of an event that was recorded again meanwhile") {
    trace_builder made;
    await_with(made, [](thread_writer& on) { on.event_wait(95, 1, 5); });
    made.on(1).event_wait(95, 1, 6, 8).event_wait(95, 1, 4);
    run(made, "one", 7, 1, 10, 150, 250);
    call(made, 4, 15);
    run(made, "two", 7, 2, 20, 250, 300);
    call(made, 5, 30);
    run(made, "three", 8, 3, 140, 200, 400);
    call(made, 6, 150);
    run(made, "four", 8, 7, 160, 400, 450);
    const auto loaded = load(made);
    CHECK(awaited_by_task(loaded) == texts{"7 one two", "8 three"});
    CHECK(share_of(loaded).covered_ns == 250);
}

TEST_CASE("work of another stream for which the awaited stream had to wait counts, up to the event "
          "there") {
    trace_builder made;
    await_with(made, [](thread_writer& on) { on.event_wait(95, 1, 5); });
    run(made, "upload", 8, 1, 10, 120, 300);
    call(made, 2, 20);  // records an event in 8
    run(made, "too late", 8, 9, 25, 300, 700);
    call(made, 3, 30);  // makes 7 wait for it
    made.on(3).dependency(32, 7, 3, 8, 2);
    run(made, "compute", 7, 4, 40, 300, 400);
    call(made, 5, 50);
    const auto loaded = load(made);
    CHECK(awaited_by_task(loaded) == texts{"7 compute", "8* upload"});
    const analysis::device_share share = share_of(loaded);
    CHECK(share.waits == 2);
    CHECK(share.covered_ns == 280);
    CHECK(share.start_ns == 120);
    CHECK(share.end_ns == 400);
    const analysis::device_work work = analysis::awaited_work(loaded, 0);
    CHECK(work.kernels.count == 2);
    CHECK(work.streams == std::vector<std::uint32_t>{7, 8});
}

TEST_CASE("an await of a stream counts the work of streams for which it waits, directly or through "
          "others") {
    trace_builder made;
    await_with(made, [](thread_writer& on) { on.device_wait(95, 1); });
    run(made, "root", 9, 1, 10, 110, 200);
    call(made, 2, 12);
    made.on(3).dependency(16, 8, 3, 9, 2);
    call(made, 3, 14);
    call(made, 4, 20);  // stream 8 has no work of its own
    made.on(3).dependency(24, 7, 5, 8, 4);
    call(made, 5, 22);
    run(made, "leaf", 7, 6, 30, 200, 300);
    CHECK(awaited_by_task(load(made)) == texts{"7 leaf", "9* root"});
}

TEST_CASE("a dependency that was met before the suspension explains nothing of the suspension") {
    trace_builder made;
    await_with(made, [](thread_writer& on) { on.device_wait(95, 1); });
    call(made, 2, 5);  // records an event in 8, in which work goes on for others
    made.on(3).dependency(8, 7, 3, 8, 2).dependency(9, 7, 3, trace::device_unknown, 0);
    call(made, 3, 7);
    run(made, "was first", 7, 4, 10, 20, 200);
    run(made, "others'", 8, 1, 3, 110, 300);
    CHECK(awaited_by_task(load(made)) == texts{"7 was first"});
}

TEST_CASE(
    "an await is explained in part if its stream waits for an unknown event, and the row says so") {
    trace_builder made;
    await_with(made, [](thread_writer& on) { on.device_wait(95, 1); });
    made.on(3).dependency(8, 7, 3, trace::device_unknown, 0);
    call(made, 3, 7);
    run(made, "known", 7, 4, 10, 200, 300);
    const auto loaded = load(made);
    CHECK(awaited_by_task(loaded) == texts{"7 known", "unknown*"});
    CHECK(share_of(loaded).waits == 1);
    CHECK(share_of(loaded).unknown == 1);
    CHECK(share_of(loaded).covered_ns == 100);
    const std::string csv = analysis::to_csv(analysis::list_task_awaits(loaded, 0));
    CHECK(csv.find("stream 7: 1 kernel 100 ns (known), and a stream that is not known") !=
          std::string::npos);
}

TEST_CASE("the search ends if streams wait for each other") {
    trace_builder made;
    await_with(made, [](thread_writer& on) { on.device_wait(95, 1); });
    for (std::uint32_t at = 0; at < 20; ++at) {
        call(made, 10 + at, 10 + at);
        made.on(3).dependency(11 + at, 7 + at % 3, 10 + at, 7 + (at + 1) % 3, 10 + at);
    }
    for (std::uint32_t stream = 7; stream < 10; ++stream)
        run(made, "k", stream, stream, 5, 200, 300);
    CHECK(awaited_by_task(load(made)) == texts{"7 k", "8* k", "9* k"});
}

TEST_CASE("an await that depends on 101 streams covers 64 of them, and a warning says so") {
    trace_builder made(65536);
    await_with(made, [](thread_writer& on) { on.device_wait(95, 1); });
    for (std::uint32_t at = 1; at <= 100; ++at) {
        call(made, 1000 + at, 20);
        made.on(3).dependency(50, 7, 2000, 100 + at, 1000 + at);
        run(made, "k", 100 + at, at, 10, 200, 300);
    }
    call(made, 2000, 40);
    const auto loaded = load(made);
    CHECK(awaited_by_task(loaded).size() == 64);
    CHECK(std::count(loaded.health.warnings.begin(), loaded.health.warnings.end(),
                     "1 suspensions depend on more streams of devices than are followed") == 1);
}

TEST_CASE(
    "a device wait of a suspension that was taken back does not count for the next suspension") {
    trace_builder made;
    const auto timer = made.site("timer", "a.cpp", 2, trace::site_kind::await);
    made.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .device_wait(90, 1)
        .suspend(92, 1)
        .cancel(94, 1)
        .suspend(100, 1, timer)
        .resume(400, 1)
        .device_wait(490, 1, 8)
        .suspend(500, 1)
        .resume(900, 1);
    run(made, "not awaited", 7, 1, 10, 150, 250);
    run(made, "awaited", 8, 2, 20, 600, 700);
    const auto loaded = load(made);
    CHECK(awaited_by_task(loaded).empty());
    REQUIRE(loaded.device_waits.size() == 2);
    CHECK(loaded.device_waits[0].await == task(loaded, 1).awaits[2]);
    CHECK(awaited(loaded, loaded.device_waits[0]) == texts{"awaited"});
    CHECK(loaded.device_waits[1].await == analysis::none);
}

TEST_CASE("awaits of one place count each overlapping kernel that any of them waited for") {
    trace_builder made;
    const auto place = made.site("gpu", "a.cpp", 1, trace::site_kind::await);
    const auto wide = made.site("wide"), over = made.site("over"), late = made.site("late");
    made.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .device_wait(99, 1)
        .suspend(100, 1, place)
        .resume(200, 1);
    made.on(2)
        .spawn(0, 2, 0, trace::spawn_started)
        .device_wait(14, 2)
        .suspend(15, 2, place)
        .resume(120, 2);
    made.on(3)
        .device(kernel(wide, 10, 150, 1))
        .device(kernel(over, 20, 30, 2))
        .device(kernel(late, 140, 160, 3));
    const auto sites = analysis::await_statistics(load(made));
    REQUIRE(sites.size() == 1);
    CHECK(sites[0].devices.kernels.count == 3);
    CHECK(sites[0].devices.kernels.total_ns == 140 + 10 + 20);
    CHECK(sites[0].devices.streams == std::vector<std::uint32_t>{7});
}

TEST_CASE(
    "time in which two streams ran counts once, and queue time counts only while neither ran") {
    trace_builder made;
    await_with(made, [](thread_writer& on) { on.device_wait(94, 1).device_wait(95, 1, 8); });
    const auto gemm = made.site("gemm");
    device_values queued = kernel(gemm, 500, 600, 1);
    queued.queued = 150;
    made.on(3)
        .device(kernel(gemm, 120, 200, 2))
        .device(queued)
        .device(kernel(gemm, 150, 400, 3, 8));
    const auto loaded = load(made);
    CHECK(share_of(loaded).covered_ns == 280 + 100);
    CHECK(share_of(loaded).queued_ns == 100);
}

TEST_CASE("the busiest of several streams with very much work covers an await") {
    trace_builder made(65536);
    made.lasts(40'000);
    thread_writer writer = made.on(1);
    writer.spawn(0, 1, 0, trace::spawn_started)
        .device_wait(94, 1)
        .device_wait(95, 1, 8)
        .suspend(100, 1)
        .resume(39'000, 1);
    for (std::int64_t at = 0; at < 11'000; ++at)
        made.on(3).device(kernel(0, 200 + 2 * at, 201 + 2 * at, 0));
    made.on(3).device(kernel(0, 30'000, 30'500, 0, 8));
    CHECK(share_of(load(made)).covered_ns == 11'000);
}

}  // namespace
}  // namespace coroscope::test
