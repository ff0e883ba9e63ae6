// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include <coroscope/detail/ticks.hpp>

#include "lib/runtime/base/clock.hpp"

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
        const auto realtime = std::chrono::system_clock::now().time_since_epoch();
        const trace::clock_point point = runtime::take_clock_point();
        CHECK(ticks <= point.ticks);
        CHECK(point.ticks <= runtime::current_ticks());
        CHECK(static_cast<std::int64_t>(monotonic) <= point.monotonic_ns);
        CHECK(point.monotonic_ns <= static_cast<std::int64_t>(detail::monotonic_ticks()));
        CHECK(realtime <= std::chrono::nanoseconds(point.realtime_ns));
        CHECK(std::chrono::nanoseconds(point.realtime_ns) <=
              std::chrono::system_clock::now().time_since_epoch());
    }

    TEST_CASE("ticks pass at one rate, within 1 %") {
        const trace::clock_point start = runtime::take_clock_point();
        std::this_thread::sleep_for(50ms);
        const trace::clock_point middle = runtime::take_clock_point();
        std::this_thread::sleep_for(50ms);
        const trace::clock_point end = runtime::take_clock_point();
        CHECK(ticks_per_ns(start, middle) == doctest::Approx(ticks_per_ns(middle, end))
                                                 .epsilon(0.01));  // the system may slew its clock
    }

    TEST_CASE("tick_source() names the clock that current_ticks() reads") {
        const bool counts_ns = runtime::tick_source() == trace::clock_source::monotonic_ns;
        const auto other = [counts_ns] {
            return counts_ns ? detail::monotonic_ticks() : detail::counter_ticks();
        };
        const std::uint64_t before = other();
        const std::uint64_t ticks = runtime::current_ticks();
        CHECK(before <= ticks);
        CHECK(ticks <= other());
    }
}
