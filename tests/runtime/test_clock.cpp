// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include <coroscope/detail/ticks.hpp>

#include "lib/runtime/clock.hpp"

using namespace coroscope;
using namespace std::chrono_literals;

namespace {

double ticks_per_ns(const trace::clock_point& from, const trace::clock_point& to) {
    return static_cast<double>(to.ticks - from.ticks) /
           static_cast<double>(to.monotonic_ns - from.monotonic_ns);
}

}  // namespace

TEST_SUITE("clock") {
    TEST_CASE("a clock point lies between the readings around it, on every clock") {
        const std::uint64_t ticks = runtime::current_ticks();
        const std::uint64_t monotonic = detail::monotonic_ticks();
        const trace::clock_point point = runtime::take_clock_point();
        CHECK(ticks <= point.ticks);
        CHECK(point.ticks <= runtime::current_ticks());
        CHECK(static_cast<std::int64_t>(monotonic) <= point.monotonic_ns);
        CHECK(point.monotonic_ns <= static_cast<std::int64_t>(detail::monotonic_ticks()));
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        CHECK(std::chrono::nanoseconds(point.realtime_ns) <= now);
        CHECK(std::chrono::nanoseconds(point.realtime_ns) > now - 1min);
    }

    TEST_CASE("ticks pass at one rate") {
        const trace::clock_point start = runtime::take_clock_point();
        std::this_thread::sleep_for(50ms);
        const trace::clock_point middle = runtime::take_clock_point();
        std::this_thread::sleep_for(50ms);
        const trace::clock_point end = runtime::take_clock_point();
        CHECK(ticks_per_ns(start, middle) ==
              doctest::Approx(ticks_per_ns(middle, end)).epsilon(0.001));
    }

    TEST_CASE("the source is the one that current_ticks() reads") {
        const bool counts_ns = runtime::tick_source() == trace::clock_source::monotonic_ns;
        const std::uint64_t other = counts_ns ? detail::monotonic_ticks() : detail::counter_ticks();
        const std::uint64_t ticks = runtime::current_ticks();
        CHECK(ticks >= other);
        CHECK(ticks - other < 1'000'000'000);
    }
}
