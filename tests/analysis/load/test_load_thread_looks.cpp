// SPDX-License-Identifier: Apache-2.0
// The states of threads, from the kernel's sums and from looks at waits.

#include <vector>

#include "thread_states.hpp"
#include <coroscope/analysis/lock_holders.hpp>

using namespace coroscope::test;

TEST_CASE("a look at a wait shows that a thread without switches since then was blocked until its "
          "next one") {
    trace_builder built = built_trace();
    built.on(2).scope(built.site("idle"), 0, 1000);
    built.kernel()
        .blocked(300, 250, {1, 202, 0, 0, 0, 0, 0})
        .blocked(310, 260, {2, 202, 0, 0, 0, 0, 0})
        .enters(1, 700);
    const analysis::trace loaded = load(built);
    CHECK(whole(loaded, 0) == state_times{300, 450, 0, 250});
    CHECK(whole(loaded, 1) == state_times{0, 740, 0, 260});
    check_divisions(loaded);
}

TEST_CASE("a look at a wait shows nothing of the time after it if not each switch is recorded") {
    trace_builder built = built_trace();
    built.kernel().blocked(300, 250, {1, 202, 0, 0, 0, 0, 0});
    built.header.thread_states = static_cast<std::uint64_t>(trace::thread_state_source::samples);
    CHECK(whole(load(built)) == state_times{0, 50, 0, 950});
}

TEST_CASE("a look at a wait that began before switches were lost shows nothing after the loss") {
    trace_builder built = built_trace();
    built.kernel()
        .leaves(1, 100)
        .lost(300, 400, 5)
        .blocked(450, 100, {1, 202, 0, 0, 0, 0, 0})
        .enters(1, 700);
    const analysis::trace loaded = load(built);
    CHECK(whole(loaded) == state_times{400, 200, 0, 400});
    check_divisions(loaded);
}

TEST_CASE("between samples only the time on a processor is known: a time that includes both "
          "samples has it, a part has not") {
    trace_builder built = built_trace();
    built.kernel().times(1, 200, 5000, 70).times(1, 600, 5100, 80).times(1, 700, 5200, 80);
    built.header.thread_states = static_cast<std::uint64_t>(trace::thread_state_source::samples);
    const analysis::trace loaded = load(built);
    CHECK(loaded.states.source == trace::thread_state_source::samples);
    CHECK(loaded.states.between(0, 200, 600) == state_times{100, 0, 0, 300});
    CHECK(loaded.states.between(0, 100, 650) == state_times{150, 0, 0, 400});
    CHECK(loaded.states.between(0, 300, 500) == state_times{0, 0, 0, 200});
    CHECK(loaded.states.between(0, 300, 700) == state_times{100, 0, 0, 300});
    CHECK(stretches(loaded) ==
          std::vector<state_stretch>{{0, 600, unknown}, {600, 700, on_cpu}, {700, 1000, unknown}});
    check_divisions(loaded);
}

TEST_CASE("between samples a thread was blocked as long as a look proves it") {
    trace_builder built = built_trace();
    built.kernel()
        .times(1, 100, 50, 0)
        .blocked(400, 150, {1, 202, 0, 0, 0, 0, 0})
        .times(1, 500, 60, 0);
    built.header.thread_states = static_cast<std::uint64_t>(trace::thread_state_source::samples);
    const analysis::trace loaded = load(built);
    CHECK(loaded.states.between(0, 150, 400) == state_times{0, 250, 0, 0});
    CHECK(loaded.states.between(0, 400, 500).blocked_ns == 0);
    check_divisions(loaded);
}

TEST_CASE("sums that decrease, or exceed their time, are no proof") {
    trace_builder built = built_trace();
    built.kernel().times(1, 100, 5000, 70).times(1, 200, 10, 0).times(1, 300, 1000, 500);
    const analysis::trace loaded = load(built);
    CHECK(loaded.states.between(0, 100, 200) == state_times{0, 0, 0, 100});
    CHECK(loaded.states.between(0, 200, 300) == state_times{100, 0, 0, 0});
    CHECK(warns_of(loaded, "contradict"));
    check_divisions(loaded);
}

TEST_CASE("the kernel's sums show the time on a processor of a thread that was never switched") {
    trace_builder built = built_trace();
    built.on(2).scope(built.site("sleeps"), 0, 1000);
    built.kernel()
        .times(1, 0, 100, 0)
        .times(2, 0, 50, 0)
        .times(2, 1000, 50, 0)
        .times(1, 1000, 1100, 0);
    const analysis::trace loaded = load(built);
    CHECK(loaded.states.between(0, 300, 400) == state_times{100, 0, 0, 0});
    CHECK(loaded.states.between(1, 300, 400) == state_times{0, 0, 0, 100});
}

TEST_CASE("a look at a blocked thread has its call, its lock and the work of the lock's holder") {
    trace_builder built;
    built.lasts(1000);
    const auto spawned = built.site("session"), flush = built.site("flush"),
               write = built.site("write");
    built.on(1).scope(built.site("work"), 0, 1000);
    built.on(2)
        .spawn(10, 17, spawned, trace::spawn_started)
        .scope(write, 40, 60)
        .scope(write, 100, 700)
        .scope(flush, 30, 800)
        .finish(900, 17);
    built.kernel()
        .leaves(1, 200)
        .blocked(300, 250,
                 {1, 202, 0, 0xbeef, 0, 2, static_cast<std::uint32_t>(trace::blocked_lock::mutex)})
        .blocked(310, -1, {1, 0, 0, 0, 6, 0, 0})
        .blocked(320, -1, {77, 0, 0, 0, 0, 0, 0})
        .blocked(330, 250, {1, 202, 0, 0xbeef, 0, 55, 0})
        .enters(1, 400);
    const analysis::trace loaded = load(built);
    REQUIRE(loaded.states.looks.size() == 3);
    const analysis::blocked_look& first = loaded.states.looks[0];
    CHECK(first.time_ns == 300);
    CHECK(first.since_ns == 250);
    CHECK(first.address == 0xbeef);
    CHECK(first.holder == 1);
    CHECK(first.lock == trace::blocked_lock::mutex);
    CHECK(first.descriptor == -1);
    CHECK(loaded.states.looks[1].descriptor == 5);
    CHECK_FALSE(loaded.states.looks[1].since_ns.has_value());
    CHECK(loaded.states.looks[2].holder == analysis::none);
    CHECK(loaded.states.looks[2].holder_os_id == 1055);
    CHECK(loaded.states.looks_at(0, 300, 310).size() == 2);
    CHECK(loaded.states.looks_at(1, 0, 1000).empty());
    const std::vector<analysis::lock_holder> holders = analysis::lock_holders(loaded);
    REQUIRE(holders.size() == 3);
    CHECK(holders[0].thread == 1);
    CHECK(loaded.tasks[holders[0].task].id == 17);
    CHECK(loaded.strings[loaded.events[holders[0].event].name] == "write");
    CHECK(holders[1].thread == analysis::none);
}

TEST_CASE("facts that are too short are left out and counted, unknown ones are skipped") {
    trace_builder built = built_trace();
    const std::uint64_t words[2] = {1001, 0};
    built.kernel().leaves(1, 100);
    for (std::uint32_t id = 0; id < 9; ++id) built.kernel().fact(200, id, words, sizeof(words) - 8);
    const analysis::trace loaded = load(built);
    CHECK(whole(loaded) == state_times{100, 900, 0, 0});
    CHECK(warns_of(loaded, "malformed facts about threads, left out: 3"));
}

TEST_CASE("facts with any wrong bit give no negative time, and parts that add up") {
    trace_builder built = built_trace();
    built.leave_open();
    built.kernel()
        .times(1, 10, 500, 20)
        .leaves(1, 100)
        .blocked(200, 150, {1, 202, 0, 0xbeef, 0, 1, 1})
        .enters(1, 300)
        .lost(400, 500, 3)
        .preempted(1, 600)
        .times(1, 900, 700, 90);
    const std::vector<unsigned char> bytes = built.bytes();
    const std::size_t first = trace::file_header_bytes + 2 * trace_builder::small_chunk;
    const std::size_t content = 3 * 16 + 2 * 48 + 64 + 32;
    for (std::size_t bit = 0; bit < (trace::chunk_header_bytes + content) * 8; ++bit) {
        const analysis::trace loaded = load(flipped(bytes, first * 8 + bit));
        for (std::int64_t from = 0; from < 1000; from += 250) {
            const state_times times = loaded.states.between(0, from, from + 300);
            REQUIRE(times.total_ns() == 300);
            REQUIRE(std::min({times.on_cpu_ns, times.blocked_ns, times.preempted_ns,
                              times.unknown_ns}) >= 0);
        }
        const state_times sums = loaded.states.sums_of(0);
        REQUIRE(std::min({sums.on_cpu_ns, sums.blocked_ns, sums.preempted_ns, sums.unknown_ns}) >=
                0);
    }
}
