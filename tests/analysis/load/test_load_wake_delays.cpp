// SPDX-License-Identifier: Apache-2.0
// The delays of wake-ups, and the kernel's work for switches, from the kernel's sums.

#include <vector>

#include "thread_states.hpp"

using namespace coroscope::test;

TEST_CASE("a wait between two sums ends by the delay of its wake-up, which is preempted time") {
    trace_builder built = built_trace();
    built.kernel()
        .times(1, 0, 100, 0)
        .leaves(1, 200)
        .enters(1, 500)
        .preempted(1, 700)
        .enters(1, 750)
        .times(1, 990, 700, 90);
    const analysis::trace loaded = load(built);
    CHECK(stretches(loaded) == std::vector<state_stretch>{{0, 200, on_cpu},
                                                          {200, 460, blocked},
                                                          {460, 500, preempted},
                                                          {500, 700, on_cpu},
                                                          {700, 750, preempted},
                                                          {750, 1000, on_cpu}});
    CHECK(loaded.states.sums_of(0) == state_times{650, 260, 90, 0});
    check_divisions(loaded);
}

TEST_CASE("waits between two sums share their delay evenly, none more than its length") {
    trace_builder built = built_trace();
    built.kernel()
        .times(1, 0, 100, 0)
        .leaves(1, 100)
        .enters(1, 110)
        .leaves(1, 200)
        .enters(1, 300)
        .leaves(1, 400)
        .enters(1, 500)
        .times(1, 600, 490, 100);
    const analysis::trace loaded = load(built);
    CHECK(stretches(loaded) == std::vector<state_stretch>{{0, 100, on_cpu},
                                                          {100, 110, preempted},
                                                          {110, 200, on_cpu},
                                                          {200, 255, blocked},
                                                          {255, 300, preempted},
                                                          {300, 400, on_cpu},
                                                          {400, 455, blocked},
                                                          {455, 500, preempted},
                                                          {500, 1000, on_cpu}});
    check_divisions(loaded);
}

TEST_CASE("a wait that no later sum follows includes the delay of its wake-up") {
    trace_builder built = built_trace();
    built.kernel()
        .times(1, 0, 100, 0)
        .leaves(1, 200)
        .enters(1, 300)
        .times(1, 400, 300, 30)
        .leaves(1, 500)
        .enters(1, 700);
    const analysis::trace loaded = load(built);
    CHECK(whole(loaded) == state_times{700, 270, 30, 0});
    CHECK(loaded.states.around(0, 600) == state_stretch{500, 700, blocked});
}

TEST_CASE("a delay of which the sums have a part too early belongs to the wait that it ends") {
    trace_builder built = built_trace();
    built.kernel()
        .times(1, 0, 100, 0)
        .leaves(1, 200)
        .times(1, 290, 300, 40)
        .enters(1, 300)
        .times(1, 400, 350, 50);
    const analysis::trace loaded = load(built);
    CHECK(loaded.states.between(0, 200, 300) == state_times{0, 50, 50, 0});
}

TEST_CASE("the kernel's work for a switch is time on a processor, if both sums were read off it") {
    trace_builder built = built_trace();
    built.kernel()
        .leaves(1, 100)
        .times(1, 150, 5000, 0)
        .enters(1, 300)
        .leaves(1, 400)
        .enters(1, 500)
        .leaves(1, 600)
        .times(1, 650, 5240, 0)
        .enters(1, 700)
        .times(1, 900, 7000, 0);
    const analysis::trace loaded = load(built);
    CHECK(loaded.states.between(0, 100, 300) == state_times{20, 180, 0, 0});
    CHECK(loaded.states.between(0, 400, 500) == state_times{20, 80, 0, 0});
    CHECK(loaded.states.between(0, 600, 700) == state_times{0, 100, 0, 0});
    check_divisions(loaded);
}

TEST_CASE("sums across a time of lost switches divide no wait") {
    trace_builder built = built_trace();
    built.kernel()
        .times(1, 0, 100, 0)
        .leaves(1, 200)
        .enters(1, 300)
        .lost(350, 400, 3)
        .leaves(1, 450)
        .enters(1, 550)
        .times(1, 600, 300, 90);
    const analysis::trace loaded = load(built);
    CHECK(loaded.states.between(0, 200, 300) == state_times{0, 100, 0, 0});
    CHECK(loaded.states.between(0, 450, 550) == state_times{0, 100, 0, 0});
    check_divisions(loaded);
}

TEST_CASE(
    "a thread that was created could run until its first processor, and its sums begin then") {
    trace_builder built = built_trace();
    built.on(2).scope(built.site("later"), 100, 800);
    built.kernel().created(2, 100).enters(2, 150).leaves(2, 200).enters(2, 400).times(2, 450, 100,
                                                                                      110);
    const analysis::trace loaded = load(built);
    CHECK(loaded.states.between(1, 100, 150) == state_times{0, 0, 50, 0});
    CHECK(loaded.states.between(1, 200, 400) == state_times{0, 140, 60, 0});
    CHECK_FALSE(warns_of(loaded, "contradict"));
    check_divisions(loaded);
}

TEST_CASE("the id of a thread that ended may be given to a new thread, whose sums begin anew") {
    trace_builder built;
    built.lasts(1000);
    const auto site = built.site("work");
    built.thread(1).last_ticks = ticks_of(400);
    built.on(1).scope(site, 0, 390);
    built.joins(2, 500).thread(2).os_thread_id = 1001;
    built.on(2).scope(site, 600, 900);
    built.kernel()
        .times(1, 10, 9000, 700)
        .leaves(1, 100)
        .enters(1, 200)
        .times(1, 250, 9200, 730)
        .created(1, 480)
        .enters(1, 500)
        .leaves(1, 600)
        .enters(1, 700)
        .times(1, 800, 250, 30);
    const analysis::trace loaded = load(built);
    CHECK(loaded.states.between(0, 0, 400) == state_times{300, 70, 30, 0});
    CHECK(loaded.states.between(1, 500, 900) == state_times{300, 90, 10, 0});
    CHECK_FALSE(warns_of(loaded, "contradict"));
    check_divisions(loaded);
}
