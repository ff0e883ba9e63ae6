// SPDX-License-Identifier: Apache-2.0
#include "clock.hpp"

#include <ctime>

#include <coroscope/detail/ticks.hpp>

#include "counter.hpp"
#include "environment_words.hpp"
#include "kept_errno.hpp"
#include "uncancelled.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/prctl.h>
#endif

namespace coroscope::runtime::inline base {
namespace {

constexpr int tries = 8;  // the first ones fault the clock's pages in

std::int64_t system_clock_ns(clockid_t clock) noexcept {
    timespec now{};
    ::clock_gettime(clock, &now);
    return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

#if defined(__x86_64__)

unsigned power_management() noexcept {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __get_cpuid(0x8000'0007, &a, &b, &c, &d) != 0 ? d : 0;
}

trace::clock_source find_tick_source() noexcept {
    const kept_errno programs;
    const uncancelled meanwhile;
    const bool usable = counter_is_clock(
        {.power_management = power_management(), .readable = counter_may_be_read()});
    return usable ? trace::clock_source::tsc : trace::clock_source::monotonic_ns;
}

#elif defined(__aarch64__)

trace::clock_source find_tick_source() noexcept { return trace::clock_source::cntvct; }

#else

trace::clock_source find_tick_source() noexcept { return trace::clock_source::monotonic_ns; }

#endif

// COROSCOPE_CLOCK=monotonic is for machines whose counter is no clock without any sign of it.
bool asked_for_monotonic() noexcept { return word_of(trace::variable::clock) == 0; }

}  // namespace

bool counter_may_be_read() noexcept {
#if defined(__x86_64__)
    const kept_errno programs;
    int permission = PR_TSC_ENABLE;
    return ::prctl(PR_GET_TSC, &permission, 0, 0, 0) != 0 || permission == PR_TSC_ENABLE;
#else
    return true;
#endif
}

trace::clock_source tick_source() noexcept {
    static const trace::clock_source found =
        asked_for_monotonic() ? trace::clock_source::monotonic_ns : find_tick_source();
    return found;
}

std::uint64_t current_ticks() noexcept {
    return tick_source() == trace::clock_source::monotonic_ns ? detail::monotonic_ticks()
                                                              : detail::counter_ticks();
}

trace::clock_point take_clock_point() noexcept {
    trace::clock_point best{};
    std::uint64_t narrowest = ~std::uint64_t{0};
    for (int i = 0; i < tries; ++i) {
        const std::uint64_t before = current_ticks();
        const std::int64_t monotonic = system_clock_ns(CLOCK_MONOTONIC);
        const std::int64_t realtime = system_clock_ns(CLOCK_REALTIME);
        const std::uint64_t width = current_ticks() - before;
        if (width >= narrowest) continue;
        narrowest = width;
        best = {before + width / 2, monotonic, realtime};
    }
    return best;
}

std::int64_t monotonic_now() noexcept { return system_clock_ns(CLOCK_MONOTONIC); }

}  // namespace coroscope::runtime::inline base

namespace coroscope::detail {

std::uint64_t monotonic_ticks() noexcept {
    return static_cast<std::uint64_t>(runtime::system_clock_ns(CLOCK_MONOTONIC));
}

}  // namespace coroscope::detail
