// SPDX-License-Identifier: Apache-2.0

// scheduled_profile: the steps in its traces, and its refusals.

#include <coroscope/scheduled_profile.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <coroscope/step_tracker.hpp>

#include "support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

struct kept_cycles {
    std::vector<recorded> traces;
    std::vector<finished_cycle> cycles;
    auto handler() {
        return [this](finished_cycle& cycle) {
            traces.push_back(load(cycle.trace));
            cycles.push_back(std::move(cycle));
        };
    }
};

// The names of all events in order, as one letter each: "work 3" is "3", a step is "#".
std::string events_of(const recorded& found) {
    std::string letters;
    for (const analysis::event& each : found.trace.events)
        letters += found.trace.strings[each.name].starts_with("ProfilerStep#")
                       ? '#'
                       : found.trace.strings[each.name].back();
    return letters;
}

template <class Profiler>
void run_steps(Profiler& profiler, int steps) {
    for (int step = 0; step < steps; ++step) {
        {
            const record_function work("work " + std::to_string(step));
        }
        profiler.step();
    }
}

}  // namespace

TEST_SUITE("scheduled_profile") {
    TEST_CASE("each cycle's trace has its active steps, each in a range, and no warm-up") {
        kept_cycles kept;
        scheduled_profile profiler(
            {}, schedule({.wait = 1, .warmup = 1, .active = 2, .repeat = 2, .skip_first = 1}),
            kept.handler());
        profiler.start();
        run_steps(profiler, 10);
        profiler.stop();
        REQUIRE(kept.traces.size() == 2);
        CHECK(events_of(kept.traces[0]) == "#3#4");
        CHECK(events_of(kept.traces[1]) == "#7#8");
        CHECK(kept.traces[0].count("ProfilerStep#3") == 1);
        CHECK(kept.traces[1].count("ProfilerStep#8") == 1);
        CHECK(kept.cycles[0].number == 1);
        CHECK(kept.cycles[1].last_step == 8);
        CHECK(kept.cycles[1].prepare_ns > 0);
        CHECK(kept.cycles[1].took.window_ns > 0);
        CHECK(profiler.step_number() == 10);
    }

    TEST_CASE(
        "without a schedule the trace covers everything from start to stop, without step ranges") {
        kept_cycles kept;
        scheduled_profile profiler({}, {}, kept.handler());
        profiler.start();
        run_steps(profiler, 3);
        profiler.stop();
        REQUIRE(kept.traces.size() == 1);
        CHECK(events_of(kept.traces[0]) == "012");
    }

    TEST_CASE(
        "a stop inside a cycle delivers the recorded part, and a stop inside a warm-up nothing") {
        kept_cycles kept;
        {
            scheduled_profile profiler({}, schedule({.warmup = 1, .active = 3}), kept.handler());
            profiler.start();
            run_steps(profiler, 2);
        }
        REQUIRE(kept.traces.size() == 1);
        CHECK(events_of(kept.traces[0]) == "#1#");
        scheduled_profile warm({}, schedule({.warmup = 2, .active = 1}), kept.handler());
        warm.start();
        run_steps(warm, 1);
        warm.stop();
        CHECK(kept.traces.size() == 1);
    }

    TEST_CASE("a profiler that is not enabled does nothing") {
        kept_cycles kept;
        scheduled_profile profiler({.enabled = false}, {}, kept.handler());
        profiler.start();
        run_steps(profiler, 2);
        profiler.stop();
        CHECK(kept.traces.empty());
        CHECK(profiler.status().state == session_state::disabled);
        CHECK(std::string(profiler.status().message).empty());
    }

    TEST_CASE("a second start is refused with torch's message and does no harm") {
        kept_cycles kept;
        scheduled_profile profiler({}, {}, kept.handler());
        profiler.start();
        profiler.start();
        CHECK(std::string(profiler.status().message) ==
              "Profiler context manager is not reentrant");
        run_steps(profiler, 1);
        profiler.stop();
        CHECK(kept.traces.size() == 1);
    }

    TEST_CASE("a schedule with an error, or an output file, refuses to start") {
        scheduled_profile wrong({}, schedule({.active = 0}));
        wrong.start();
        wrong.step();
        CHECK(wrong.status().state == session_state::refused);
        CHECK(std::string(wrong.status().message).starts_with("Invalid profiler schedule"));
        scheduled_profile file({.output = "never.cst"});
        file.start();
        CHECK(file.status().state == session_state::refused);
    }

    TEST_CASE("inside another session the profiler reports that one is enabled already") {
        const recording outer(profile_options{});
        scheduled_profile inner({});
        inner.start();
        CHECK(inner.status().state == session_state::refused);
        CHECK(std::string(inner.status().message) == "Profiler is already enabled on this thread.");
    }

    TEST_CASE("the reason for one refused start does not affect the next start") {
        kept_cycles kept;
        scheduled_profile profiler({}, {}, kept.handler());
        {
            const recording outer(profile_options{});
            profiler.start();
            profiler.stop();
            CHECK(profiler.status().state == session_state::refused);
        }
        profiler.start();
        CHECK(profiler.status().state == session_state::recording);
        CHECK(std::string(profiler.status().message).empty());
        run_steps(profiler, 1);
        profiler.stop();
        CHECK(kept.traces.size() == 1);
    }

    TEST_CASE("a cycle that begins clears the reason why an earlier one was refused") {
        auto outer = std::make_unique<recording>(profile_options{});
        scheduled_profile profiler({}, schedule({.wait = 1, .warmup = 1, .active = 1}));
        profiler.start();
        profiler.step();
        CHECK(profiler.status().state == session_state::refused);
        outer.reset();
        profiler.step();
        CHECK(profiler.status().state == session_state::recording);
        CHECK(std::string(profiler.status().message).empty());
    }

    TEST_CASE("the message of a second start is cleared by the next start that works") {
        scheduled_profile profiler({});
        profiler.start();
        profiler.start();
        profiler.stop();
        profiler.start();
        CHECK(std::string(profiler.status().message).empty());
    }

    TEST_CASE("an exception of on_trace_ready leaves step(), and later steps work") {
        int calls = 0;
        scheduled_profile profiler({}, schedule({.warmup = 1, .active = 1}),
                                   [&calls](finished_cycle&) {
                                       if (++calls == 1) throw std::runtime_error("disk full");
                                   });
        profiler.start();
        profiler.step();
        CHECK_THROWS_AS(profiler.step(), std::runtime_error);
        CHECK(profiler.step_number() == 2);
        run_steps(profiler, 2);
        CHECK(calls == 2);
    }

    TEST_CASE("the profiler's steps are counted with the other requesters' of the process, each "
              "step once") {
        const std::int64_t before = step_tracker::current();
        scheduled_profile profiler({}, schedule({.wait = 1, .warmup = 1, .active = 1}));
        profiler.start();
        step_tracker::init("optimizer");
        for (int step = 0; step < 4; ++step) {
            step_tracker::increment("optimizer");
            profiler.step();
        }
        CHECK(step_tracker::current() == before + 4);
        step_tracker::erase("optimizer");
    }

    TEST_CASE("two profilers that step together count each step once") {
        const std::int64_t before = step_tracker::current();
        const schedule idle({.wait = 100, .active = 1});
        scheduled_profile first({}, idle);
        scheduled_profile second({}, idle);
        first.start();
        second.start();
        for (int step = 0; step < 10; ++step) {
            first.step();
            second.step();
        }
        CHECK(step_tracker::current() == before + 10);
    }
}
