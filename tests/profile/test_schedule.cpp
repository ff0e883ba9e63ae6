// SPDX-License-Identifier: Apache-2.0

// schedule: the rules of the specification, step by step.

#include <coroscope/schedule.hpp>

#include <string>
#include <string_view>

#include <doctest/doctest.h>

using namespace coroscope;

namespace {

std::string actions(const schedule& plan, std::uint64_t steps) {
    std::string letters;
    for (std::uint64_t step = 0; step < steps; ++step)
        letters += "NWRS"[static_cast<std::size_t>(plan(step))];
    return letters;
}

}  // namespace

TEST_SUITE("schedule") {
    TEST_CASE("skip 2, wait 1, warmup 1, active 2, repeat 2 gives the specification's vector") {
        constexpr schedule plan(
            {.wait = 1, .warmup = 1, .active = 2, .repeat = 2, .skip_first = 2});
        static_assert(plan(5) == profiler_action::record_and_save);
        CHECK(actions(plan, 14) == "NNNWRSNWRSNNNN");
    }

    TEST_CASE("the skipped steps come before the first cycle") {
        CHECK(actions(schedule({.warmup = 1, .active = 1, .skip_first = 3}), 7) == "NNNWSWS");
    }

    TEST_CASE("with skip_first_wait the first cycle does not wait, and later ones do") {
        const schedule plan(
            {.wait = 2, .warmup = 1, .active = 1, .skip_first = 1, .skip_first_wait = 1});
        CHECK(actions(plan, 9) == "NWSNNWSNN");
    }

    TEST_CASE("without a number of repetitions the cycles never end") {
        const schedule plan({.wait = 1, .warmup = 1, .active = 1});
        CHECK(actions(plan, 6) == "NWSNWS");
        CHECK(plan(3'000'000'000'002) == profiler_action::record_and_save);
    }

    TEST_CASE("the last active step saves, also if it is the only one") {
        CHECK(actions(schedule({.warmup = 1, .active = 3}), 4) == "WRRS");
        CHECK(actions(schedule({.warmup = 1, .active = 1}), 2) == "WS");
    }

    TEST_CASE("a default schedule always records and does not divide steps") {
        const schedule always;
        CHECK(actions(always, 4) == "RRRR");
        CHECK_FALSE(always.divides_steps());
        CHECK(always.status().state == schedule_state::good);
    }

    TEST_CASE("negative arguments, and an active count that is not positive, are errors and never "
              "record") {
        const schedule_options wrong[] = {
            {.wait = -1, .warmup = 1, .active = 1},
            {.wait = 0, .warmup = -1, .active = 1},
            {.wait = 0, .warmup = 1, .active = 0},
            {.wait = 0, .warmup = 1, .active = -1},
            {.wait = 0, .warmup = 1, .active = 1, .repeat = -1},
            {.wait = 0, .warmup = 1, .active = 1, .skip_first = -1},
            {.wait = 0, .warmup = 1, .active = 1, .skip_first_wait = -1},
        };
        for (const schedule_options& options : wrong) {
            const schedule plan(options);
            CHECK(plan.status().state == schedule_state::error);
            CHECK(std::string_view(plan.status().message).starts_with("Invalid profiler schedule"));
            CHECK(actions(plan, 5) == "NNNNN");
        }
    }

    TEST_CASE("a schedule without warmup works and warns") {
        const schedule plan({.wait = 1, .active = 1});
        CHECK(plan.status().state == schedule_state::warning);
        CHECK(std::string(plan.status().message) ==
              "Profiler won't be using warmup, this can skew profiler results");
        CHECK(actions(plan, 4) == "NSNS");
    }

    TEST_CASE("the largest counts do not overflow") {
        constexpr int most = 2'147'483'647;
        const schedule plan({.wait = most, .warmup = most, .active = most});
        CHECK(plan(0) == profiler_action::none);
        CHECK(plan(3ULL * most - 1) == profiler_action::record_and_save);
    }
}
