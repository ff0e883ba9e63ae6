// SPDX-License-Identifier: Apache-2.0

// The machines on which the processor's counter is a clock.

#include <fstream>

#include <doctest/doctest.h>

#include "lib/runtime/base/counter.hpp"
#include "scratch_file.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr unsigned invariant = 0x100;

// Returns whether an invariant counter is a clock if the kernel's list of clocks has this content.
bool is_clock_beside(const char* clocks) {
    const scratch_file list;
    std::ofstream(list.path()) << clocks;
    return runtime::counter_is_clock({.power_management = invariant, .clocks = list.path()});
}

}  // namespace

TEST_SUITE("counter") {
    TEST_CASE("a counter that the kernel lists is a clock, whichever clock the kernel uses") {
        CHECK(is_clock_beside("tsc hpet acpi_pm \n"));
        CHECK(is_clock_beside("hpet tsc\n"));
        CHECK(is_clock_beside("kvm-clock tsc acpi_pm \n"));
    }

    TEST_CASE("a counter that the kernel has taken off its list is no clock") {
        CHECK_FALSE(is_clock_beside("hpet acpi_pm \n"));
        CHECK_FALSE(is_clock_beside("\n"));
    }

    TEST_CASE("a clock whose name contains the counter's name does not count as the counter") {
        CHECK_FALSE(is_clock_beside("hyperv_clocksource_tsc_page acpi_pm \n"));
        CHECK_FALSE(is_clock_beside("tsc-early hpet acpi_pm \n"));
    }

    TEST_CASE("if the kernel's list is missing or empty, the processor's flag decides") {
        CHECK(is_clock_beside(""));
        const scratch_file nowhere;
        CHECK(runtime::counter_is_clock({.power_management = invariant, .clocks = nowhere.path()}));
        CHECK_FALSE(runtime::counter_is_clock({.power_management = 0, .clocks = nowhere.path()}));
    }

    TEST_CASE("a counter that changes its rate, or that this thread may not read, is no clock") {
        const scratch_file list;
        std::ofstream(list.path()) << "tsc hpet acpi_pm \n";
        CHECK_FALSE(
            runtime::counter_is_clock({.power_management = ~invariant, .clocks = list.path()}));
        CHECK_FALSE(runtime::counter_is_clock(
            {.power_management = invariant, .readable = false, .clocks = list.path()}));
    }
}
