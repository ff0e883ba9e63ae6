// SPDX-License-Identifier: Apache-2.0
// The states of threads, from the switches that the kernel reports.

#include <vector>

#include "thread_states.hpp"

using namespace coroscope::test;

TEST_CASE("switches divide a thread's time into on-CPU, blocked and preempted") {
    trace_builder built = built_trace();
    built.kernel().leaves(1, 100).enters(1, 300).preempted(1, 350).enters(1, 360);
    const analysis::trace loaded = load(built);
    CHECK(loaded.states.any());
    CHECK(loaded.states.source == trace::thread_state_source::switches);
    CHECK(loaded.states.switches == 4);
    CHECK(whole(loaded) == state_times{790, 200, 10, 0});
    CHECK(stretches(loaded) == std::vector<state_stretch>{{0, 100, on_cpu},
                                                          {100, 300, blocked},
                                                          {300, 350, on_cpu},
                                                          {350, 360, preempted},
                                                          {360, 1000, on_cpu}});
    CHECK(loaded.states.between(0, 50, 355) == state_times{100, 200, 5, 0});
    CHECK(loaded.states.between(0, 100, 300) == state_times{0, 200, 0, 0});
    CHECK(loaded.states.between(0, 150, 150) == state_times{});
    CHECK(loaded.states.around(0, 200) == state_stretch{100, 300, blocked});
    CHECK(loaded.states.between(7, 0, 10) == state_times{0, 0, 0, 10});
    check_divisions(loaded);
}

TEST_CASE("a trace without the kernel's facts has no states") {
    const analysis::trace loaded = load(built_trace());
    CHECK_FALSE(loaded.states.any());
    CHECK(whole(loaded) == state_times{0, 0, 0, 1000});
    CHECK(stretches(loaded) == std::vector<state_stretch>{{0, 1000, unknown}});
    CHECK(loaded.states.sums_of(0) == state_times{});
}

TEST_CASE("before its first record a thread was on a processor if it left one, else its state is "
          "unknown") {
    trace_builder built = built_trace();
    built.on(2).scope(built.site("late"), 200, 1000);
    built.on(3).scope(built.site("other"), 0, 1000);
    built.kernel().leaves(1, 400).leaves(2, 500).enters(3, 300);
    const analysis::trace loaded = load(built);
    CHECK(whole(loaded, 0) == state_times{400, 600, 0, 0});
    CHECK(whole(loaded, 2) == state_times{700, 0, 0, 300});
    check_divisions(loaded);
}

TEST_CASE("a thread's states are known from its first sign on, and no earlier") {
    trace_builder built = built_trace();
    built.joins(2, 250).thread(2).last_ticks = ticks_of(800);
    built.on(2).scope(built.site("late"), 200, 700);
    built.kernel().leaves(2, 500);
    const analysis::trace loaded = load(built);
    const auto thread = static_cast<std::uint32_t>(
        std::ranges::find(loaded.threads, 2U, &analysis::thread_info::id) - loaded.threads.begin());
    CHECK(stretches(loaded, thread) ==
          std::vector<state_stretch>{
              {0, 200, unknown}, {200, 500, on_cpu}, {500, 800, blocked}, {800, 1000, unknown}});
}

TEST_CASE("the time of lost switches is unknown on every thread") {
    trace_builder built = built_trace();
    built.on(2).scope(built.site("other"), 0, 1000);
    built.kernel()
        .leaves(1, 100)
        .lost(400, 500, 17)
        .leaves(1, 600)
        .enters(1, 650)
        .leaves(2, 50)
        .enters(2, 550);
    const analysis::trace loaded = load(built);
    CHECK(loaded.states.lost_switches == 17);
    CHECK(stretches(loaded, 0) == std::vector<state_stretch>{{0, 100, on_cpu},
                                                             {100, 400, blocked},
                                                             {400, 500, unknown},
                                                             {500, 600, on_cpu},
                                                             {600, 650, blocked},
                                                             {650, 1000, on_cpu}});
    CHECK(stretches(loaded, 1) ==
          std::vector<state_stretch>{
              {0, 50, on_cpu}, {50, 400, blocked}, {400, 550, unknown}, {550, 1000, on_cpu}});
    CHECK_FALSE(warns_of(loaded, "contradict"));
    check_divisions(loaded);
}

TEST_CASE(
    "records that contradict each other make the time between them unknown, and are counted") {
    trace_builder built = built_trace();
    built.kernel().leaves(1, 100).leaves(1, 200).enters(1, 300).leaves(1, 500);
    const analysis::trace loaded = load(built);
    CHECK(stretches(loaded) == std::vector<state_stretch>{{0, 100, on_cpu},
                                                          {100, 200, unknown},
                                                          {200, 300, blocked},
                                                          {300, 500, on_cpu},
                                                          {500, 1000, blocked}});
    CHECK(warns_of(loaded, "records of switches that contradict each other: 1"));
    check_divisions(loaded);
}

TEST_CASE("records count by their times, in whatever order they were written") {
    trace_builder built = built_trace();
    built.kernel().enters(1, 300).preempted(1, 700).leaves(1, 100).enters(1, 900);
    const analysis::trace loaded = load(built);
    CHECK(whole(loaded) == state_times{600, 200, 200, 0});
    CHECK_FALSE(warns_of(loaded, "contradict"));
}

TEST_CASE("a thread may leave one processor and enter another in the same moment") {
    trace_builder built = built_trace();
    built.kernel().leaves(1, 100).enters(1, 200).enters(1, 500).preempted(1, 500);
    const analysis::trace loaded = load(built);
    CHECK(whole(loaded) == state_times{900, 100, 0, 0});
    CHECK_FALSE(warns_of(loaded, "contradict"));
}

TEST_CASE("times before the session and after it count up to its ends") {
    trace_builder built = built_trace();
    built.kernel().leaves(1, -500).enters(1, -200).leaves(1, 600).enters(1, 5000);
    const analysis::trace loaded = load(built);
    CHECK(whole(loaded) == state_times{600, 400, 0, 0});
    check_divisions(loaded);
}

TEST_CASE("impossible times do no harm") {
    trace_builder built = built_trace();
    built.header.start.monotonic_ns = -9'000'000'000'000'000'000;
    built.kernel()
        .leaves(1, 9'200'000'000'000'000'000)
        .times(1, 9'200'000'000'000'000'000, ~std::uint64_t{0}, ~std::uint64_t{0})
        .lost(9'000'000'000'000'000'000, 5, ~std::uint64_t{0})
        .lost(0, 9'000'000'000'000'000'000, ~std::uint64_t{0});
    built.lasts(1000);
    const analysis::trace loaded = load(built);
    check_divisions(loaded);
}

TEST_CASE("a thread id that is used again has the states of each of its threads") {
    trace_builder built;
    built.lasts(1000);
    const auto site = built.site("work");
    built.thread(1).last_ticks = ticks_of(400);
    built.on(1).scope(site, 0, 390);
    built.joins(2, 580).thread(2).os_thread_id = 1001;
    built.on(2).scope(site, 600, 900);
    built.kernel()
        .leaves(1, 100)
        .enters(1, 200)
        .leaves(1, 410)
        .enters(1, 550)
        .preempted(1, 700)
        .enters(1, 800);
    analysis::trace loaded = load(built);
    CHECK(loaded.states.between(0, 0, 400) == state_times{300, 100, 0, 0});
    CHECK(loaded.states.between(1, 600, 900) == state_times{200, 0, 100, 0});
    check_divisions(loaded);
}

TEST_CASE("an id that enters a processor twice is that of two threads") {
    trace_builder built = built_trace();
    built.kernel().leaves(1, 100).enters(1, 300).enters(1, 450).leaves(1, 500);
    const analysis::trace loaded = load(built);
    CHECK(whole(loaded) == state_times{300, 700, 0, 0});
    CHECK_FALSE(warns_of(loaded, "contradict"));
}

TEST_CASE("in a trace that was not finished, states are known up to the last fact") {
    trace_builder built = built_trace();
    built.kernel().leaves(1, 100).enters(1, 300).times(2, 800, 0, 0);
    built.leave_open();
    const analysis::trace loaded = load(built);
    CHECK(stretches(loaded) ==
          std::vector<state_stretch>{
              {0, 100, on_cpu}, {100, 300, blocked}, {300, 800, on_cpu}, {800, 1000, unknown}});
}

TEST_CASE("a missing chunk of facts makes the time unknown in which its facts may have been") {
    trace_builder built = built_trace();
    built.kernel().leaves(1, 100).enters(1, 200).next_chunk(400).leaves(1, 450).enters(1, 500);
    built.kernel().next_chunk(600).leaves(1, 650);
    std::vector<unsigned char> bytes = built.bytes();
    const std::size_t second = trace::file_header_bytes + 3 * trace_builder::small_chunk;
    bytes[second + trace::chunk_header_bytes] ^= 1;
    const analysis::trace loaded = load(trace::buffer::copy(bytes.data(), bytes.size()));
    CHECK(loaded.health.damaged_chunks == 1);
    CHECK(stretches(loaded) ==
          std::vector<state_stretch>{{0, 600, unknown}, {600, 650, on_cpu}, {650, 1000, blocked}});
}
