// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstring>

#include "../loading.hpp"

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;

namespace {

constexpr std::uint64_t base = trace_builder::base_ticks;

// A clock of 2.5 ticks per nanosecond.
trace_builder fast_clock() {
    trace_builder built;
    built.header.clock = trace::clock_source::tsc;
    built.header.last = {base + 2'500'000, built.header.start.monotonic_ns + 1'000'000, 0};
    return built;
}

}  // namespace

TEST_CASE("ticks that divide become exact nanoseconds since the session's start") {
    auto built = fast_clock();
    const auto site = built.site("work");
    built.on(1).scope(site, 5, 10).scope(site, 250, 2500);
    const auto loaded = load(built);
    REQUIRE(loaded.events.size() == 2);
    CHECK(loaded.events[0].start_ns == 2);
    CHECK(loaded.events[0].end_ns == 4);
    CHECK(loaded.events[1].start_ns == 100);
    CHECK(loaded.events[1].end_ns == 1000);
    CHECK(loaded.duration_ns == 1'000'000);
    CHECK(loaded.clock == "tsc");
}

TEST_CASE("each stretch between clock points has its own rate") {
    auto built = fast_clock();
    const std::int64_t start = built.header.start.monotonic_ns;
    built.clock_point(base + 1'000'000, start + 100'000);  // ten ticks per nanosecond, then 1.67
    const auto site = built.site("work");
    built.on(1)
        .scope(site, 500'000, 500'010)
        .scope(site, 1'000'000, 1'000'005)
        .scope(site, 2'500'000, 2'500'000);
    const auto loaded = load(built);
    REQUIRE(loaded.events.size() == 3);
    CHECK(loaded.events[0].start_ns == 50'000);
    CHECK(loaded.events[0].end_ns == 50'001);
    CHECK(loaded.events[1].start_ns == 100'000);
    CHECK(loaded.events[1].end_ns == 100'003);
    CHECK(loaded.events[2].start_ns == 1'000'000);
}

TEST_CASE("clock points that contradict each other are left out") {
    auto built = fast_clock();
    const std::int64_t start = built.header.start.monotonic_ns;
    built.clock_point(base + 1'000, start - 50)
        .clock_point(base + 2'000, start + (std::int64_t{1} << 62));
    const auto site = built.site("work");
    built.on(1).scope(site, 250, 500);
    const auto loaded = load(built);
    CHECK(loaded.events[0].start_ns == 100);
    CHECK(loaded.events[0].end_ns == 200);
}

TEST_CASE("without a second clock point times are in ticks, and a warning says so") {
    auto built = fast_clock();
    built.header.last = {};
    const auto site = built.site("work");
    built.on(1).scope(site, 250, 500);
    const auto loaded = load(built);
    CHECK(loaded.events[0].end_ns == 500);
    REQUIRE(loaded.health.warnings.size() == 1);
    CHECK(loaded.health.warnings[0].find("read only once") != std::string::npos);
}

TEST_CASE("ticks that no clock can reach are clamped to the end of the session") {
    const std::int64_t ticks = std::int64_t{1}
                               << 62;  // of a thousand nanoseconds: 146 million years
    constexpr std::int64_t minute_ns = 60'000'000'000;
    auto slow = fast_clock();
    slow.header.last.ticks = base + 1'000;
    slow.on(1)
        .long_scope(slow.site("work"), 250, ticks, 0)
        .long_scope(slow.site("late"), ticks, ticks + 9, 0);
    const auto loaded = load(slow);
    CHECK(loaded.duration_ns == 1'000'000 + minute_ns);
    CHECK(event(loaded, "work").start_ns == 250'000);
    CHECK(event(loaded, "work").end_ns == loaded.duration_ns);
    CHECK(event(loaded, "late").start_ns == loaded.duration_ns);
    check_sound(loaded);

    auto uncalibrated = fast_clock();
    uncalibrated.header.last = {};
    uncalibrated.on(1).long_scope(uncalibrated.site("work"), 250, ticks, 0);
    const auto in_ticks = load(uncalibrated);
    CHECK(event(in_ticks, "work").start_ns == 250);
    CHECK(event(in_ticks, "work").end_ns == std::int64_t{1} << 61);
    check_sound(in_ticks);
}

TEST_CASE("a scope that began before the session is clipped to its start and marked") {
    trace_builder built;
    const auto site = built.site("work"), in_frame = built.site("frame");
    built.on(1)
        .scope(site, -50, 20)
        .long_scope(in_frame, -10, 30, trace::scope_in_frame | trace::scope_clipped);
    const auto loaded = load(built);
    CHECK(event(loaded, "work").start_ns == 0);
    CHECK((event(loaded, "work").flags & analysis::event_clipped) != 0);
    CHECK(event(loaded, "frame").start_ns == 0);
    CHECK((event(loaded, "frame").flags & analysis::event_clipped) != 0);
    check_sound(loaded);
}

TEST_CASE("a session that was killed lasts until its last record") {
    trace_builder built;
    const auto site = built.site("work");
    built.leave_open().lasts(100);
    built.on(1).scope(site, 150, 180).resume(250, 1);
    const auto loaded = load(built);
    CHECK_FALSE(loaded.health.finished);
    CHECK(loaded.duration_ns == 250);
    check_sound(loaded);
}

TEST_CASE("the recorder's own cost is given in nanoseconds") {
    auto built = fast_clock();
    built.header.scope_cost_ticks = 256 * 50;
    built.header.await_cost_ticks = 256 * 125;
    const auto loaded = load(built);
    CHECK(loaded.scope_cost_ns == doctest::Approx(20));
    CHECK(loaded.await_cost_ns == doctest::Approx(50));
}

TEST_CASE("a wait of more ticks than a clock can have is clamped to the longest time") {
    trace_builder built;
    built.thread(1).waited_ticks = ~std::uint64_t{0};
    CHECK(load(built).threads[0].waited_ns == std::int64_t{1} << 61);
}

TEST_CASE("the losses of a trace come from its header and its threads' records") {
    trace_builder built;
    built.header.policy = trace::overflow_policy::overwrite_oldest;
    built.header.lost_records = 3;
    built.header.late_records = 4;
    built.header.tasks_without_slot = 5;
    built.header.write_error = 28;
    built.header.crash_signal = 11;
    std::strcpy(built.header.crash_report, "signal 11\n#0 task 3\n");
    built.thread(1).dropped_newest = 10;
    built.thread(2).overwritten = 20;
    built.thread(2).waited_ticks = 70;
    const auto loaded = load(built);
    CHECK(loaded.policy == "overwrite oldest");
    CHECK(loaded.health.dropped_newest == 13);
    CHECK(loaded.health.overwritten == 20);
    CHECK(loaded.health.late_records == 4);
    CHECK(loaded.health.tasks_without_slot == 5);
    CHECK(loaded.health.write_error == 28);
    CHECK(loaded.health.crash_report == "signal 11\n#0 task 3\n");
    CHECK(loaded.health.lost_records());
    CHECK(loaded.threads[1].waited_ns == 70);
    CHECK(loaded.threads[0].name == "thread 1");
    CHECK(loaded.threads[0].os_id == 1001);
    CHECK(loaded.process_name == "test");
    CHECK(loaded.process_id == 42);
}
