// SPDX-License-Identifier: Apache-2.0

// The wall clock is set while a session records. This program's clock_gettime() replaces the C
// library's.

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>

#include <sys/syscall.h>
#include <unistd.h>

#include "../../support/skip.hpp"
#include "../support/build.hpp"
#include "../support/session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t hour = 3600;

std::atomic<std::int64_t> seconds_ahead{0};
std::atomic<std::uint64_t> looks{0};  // readings of the wall clock

std::int64_t true_time_of_day() {
    timespec now{};
    ::syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    return now.tv_sec * second + now.tv_nsec;
}

}  // namespace

// A sanitizer reads clocks before it is set up.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock,
                                                                    timespec* now) noexcept {
    if (::syscall(SYS_clock_gettime, clock, now) != 0) return -1;
    if (clock != CLOCK_REALTIME) return 0;
    looks.fetch_add(1);
    now->tv_sec += seconds_ahead.load();
    return 0;
}
#endif

TEST_SUITE("wall clock") {
    TEST_CASE(
        "after the wall clock is set, times of day go on from its value at the session's start") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer calls clocks itself");
            return;
        }
        std::array<std::int64_t, 5> true_times{};
        profile session{{.all_threads = true}};
        std::uint64_t number = 0;
        for (const std::int64_t ahead : {std::int64_t{0}, hour, -hour, 2 * hour, std::int64_t{0}}) {
            seconds_ahead = ahead;
            true_times[number] = true_time_of_day();
            step(number++);
            const std::uint64_t before = looks;
            while (looks == before) ::usleep(1000);  // the recorder notes it
        }
        seconds_ahead = hour;
        const trace::buffer bytes = session.stop();
        seconds_ahead = 0;
        const analysis::trace found = load(bytes);
        REQUIRE(count_steps(found) == true_times.size());
        for (const analysis::event& event : found.events) {
            const std::int64_t expected =
                true_times.at(static_cast<std::size_t>(label_of(found, event).back() - '0'));
            const std::int64_t told = found.start_realtime_ns + event.start_ns;
            CHECK(std::abs(told - expected) < hour * second / 2);
        }
    }
}
