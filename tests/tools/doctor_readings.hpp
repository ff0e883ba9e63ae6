// SPDX-License-Identifier: Apache-2.0
#pragma once

// Planted readings of a machine, and the rows that follow from them.

#include <algorithm>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>
#include <linux/magic.h>

#include "tools/doctor/judge_machine.hpp"
#include "tools/doctor/list_facts.hpp"

namespace coroscope::tools {

inline bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

inline privilege_readings privileges(std::int64_t paranoid, std::int64_t seccomp = 0,
                                     std::uint64_t capabilities = 0) {
    return {.perf_event_paranoid = paranoid, .seccomp = seccomp, .capabilities = capabilities};
}

/// A machine on which everything can be recorded.
inline machine_readings able_machine() {
    machine_readings read{.release = "6.1.0", .c_library = "glibc 2.36", .libdw = true};
    read.folder = "/var/traces";
    read.privileges = privileges(2);
    read.clock = {.machine = "x86_64",
                  .current_source = "tsc",
                  .available_sources = "tsc hpet acpi_pm",
                  .invariant = true};
    read.container = {.groups_known = true, .processors = 8, .online = 8};
    read.limits = {.descriptors = 1024,
                   .most_descriptors = 4096,
                   .locked_bytes = std::uint64_t{8} << 20,
                   .perf_event_mlock_kb = 516};
    read.switches.found.recorded = true;
    read.threads.found = {.sums_counted = true, .call_named = true};
    read.locks.found = {.mutex_holder = true, .rwlock_writer = true};
    std::string("/lib/libcuda.so.1").copy(read.devices.found.driver, 100);
    std::string("/lib/libcupti.so.12").copy(read.devices.found.cupti, 100);
    read.traces.found = {
        .file_system = EXT4_SUPER_MAGIC, .free_bytes = std::uint64_t{1} << 40, .writable = true};
    return read;
}

inline fact row(const facts& rows, const std::string& name) {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const fact& each) { return each.name == name; });
    REQUIRE_MESSAGE(found != rows.end(), name);
    return *found;
}

inline fact machine_row(const machine_readings& read, const std::string& name) {
    return row(judge_machine(read), name);
}

}  // namespace coroscope::tools
