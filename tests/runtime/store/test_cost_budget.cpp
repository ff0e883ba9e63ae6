// SPDX-License-Identifier: Apache-2.0

// The interval of requests that follows from the cost of recording and its limit.

#include <doctest/doctest.h>

#include "../../../lib/runtime/store/budget_settings.hpp"
#include "../../../lib/runtime/store/cost_budget.hpp"

using namespace coroscope::runtime;

namespace {

constexpr std::uint32_t percent = 10'000;  // in millionths

budget_settings budget_of(std::uint32_t ppm, std::uint32_t least = 1) {
    budget_settings settings;
    settings.budget_ppm = ppm;
    settings.least_interval = least;
    return settings;
}

}  // namespace

TEST_SUITE("cost budget") {
    TEST_CASE("the interval doubles above the budget, up to a largest one") {
        CHECK(next_interval(1, budget_of(percent), percent + 1) == 2);
        CHECK(next_interval(8, budget_of(percent), 100 * percent) == 16);
        CHECK(next_interval(largest_interval, budget_of(percent), 100 * percent) ==
              largest_interval);
    }

    TEST_CASE("the interval halves only if twice the cost leaves a quarter of the budget free") {
        CHECK(next_interval(8, budget_of(percent), percent) == 8);
        CHECK(next_interval(8, budget_of(percent), percent / 2) == 8);
        CHECK(next_interval(8, budget_of(percent), percent * 3 / 8) == 4);
        CHECK(next_interval(8, budget_of(percent), 0) == 4);
    }

    TEST_CASE("the interval does not fall below the one that was asked for") {
        CHECK(next_interval(1, budget_of(percent), 0) == 1);
        CHECK(next_interval(20, budget_of(percent, 16), 0) == 20);
        CHECK(next_interval(32, budget_of(percent, 16), 0) == 16);
    }

    TEST_CASE("the time of a byte is that of the more expensive records, by the header's clock") {
        coroscope::trace::file_header header{};
        CHECK(recording_ns_per_byte(header) == 0);
        header.start = {1000, 0, 0};
        header.last = {3000, 1000, 0};       // two ticks are a nanosecond
        header.scope_cost_ticks = 32 * 256;  // 16 bytes in 16 ns
        header.await_cost_ticks = 64 * 256;  // 64 bytes in 32 ns
        CHECK(recording_ns_per_byte(header) == doctest::Approx(1.0));
        header.await_cost_ticks = 256 * 256;  // in 128 ns
        CHECK(recording_ns_per_byte(header) == doctest::Approx(2.0));
    }
}
