// SPDX-License-Identifier: Apache-2.0
#include "judge_machine.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "capabilities.hpp"
#include "judge_room.hpp"
#include "judge_threads.hpp"
#include "system_files.hpp"

namespace coroscope::tools {
namespace {

fact judge_scopes() {
    return {.name = "scopes and tasks",
            .state = fact_state::yes,
            .why = "the program records them itself, without the kernel",
            .essential = true};
}

fact slow_clock(std::string why, std::string change) {
    return {.name = "fast clock",
            .state = fact_state::partly,
            .why = std::move(why) + "; CLOCK_MONOTONIC is used, which costs more",
            .change = std::move(change)};
}

fact judge_counter(const clock_readings& read) {
    if (!read.invariant)
        return {.name = "fast clock", .why = "the processor's flags cannot be read"};
    if (!*read.invariant)
        return slow_clock("the processor has no invariant counter (constant_tsc, nonstop_tsc)",
                          "in a virtual machine, pass it on (QEMU: -cpu host,+invtsc)");
    if (!read.readable)
        return slow_clock("the counter may not be read (PR_SET_TSC)", "leave PR_SET_TSC alone");
    if (!read.available_sources.empty() && !has_word(read.available_sources, "tsc"))
        return slow_clock("the kernel does not trust the counter", "see dmesg for its reason");
    const std::string source = read.current_source.empty() ? "unknown" : read.current_source;
    return {.name = "fast clock",
            .state = fact_state::yes,
            .why = "the processor's counter is invariant; the kernel's clock source is " + source};
}

fact judge_clock(const clock_readings& read) {
    if (read.asked_for_monotonic)
        return slow_clock("COROSCOPE_CLOCK is set", "unset COROSCOPE_CLOCK");
    if (read.machine == "x86_64") return judge_counter(read);
    if (read.machine == "aarch64")
        return {.name = "fast clock",
                .state = fact_state::yes,
                .why = "the processor's counter (cntvct_el0)"};
    return slow_clock("no counter is known for " + read.machine, "");
}

fact judge_lines(bool libdw) {
    if (libdw)
        return {.name = "lines of stacks",
                .state = fact_state::yes,
                .why = "this command is built with libdw"};
    return {.name = "lines of stacks",
            .state = fact_state::partly,
            .why = "modules and offsets only: this command is built without libdw",
            .change = "install libdw-dev, and build with -Dsymbols=enabled"};
}

fact judge_devices(const machine_readings& read) {
    fact made{.name = "NVIDIA GPUs"};
    if (made.why = why_not_tried(read.devices.end); !made.why.empty()) return made;
    const device_trial& found = read.devices.found;
    made.state = fact_state::no;
    if (*found.driver == '\0') {
        made.why = "libcuda.so.1 of the driver was not found";
        made.change = "install the driver; in a container, pass the GPU on (Docker: --gpus all)";
        return made;
    }
    if (*found.cupti == '\0') {
        made.why = fmt::format("{}, but no libcupti.so.13 or .12", found.driver);
        made.change = "install CUDA's CUPTI, or name it by COROSCOPE_CUPTI";
        return made;
    }
    made.state = fact_state::yes;
    made.why = fmt::format("{}, {}", found.driver, found.cupti);
    if (read.devices_for_admins.value_or(false) &&
        !has_any(read.privileges, {capability::sys_admin})) {
        made.state = fact_state::partly;
        made.why += "; the driver may refuse, it admits administrators to counters";
        made.change = "load the module nvidia with NVreg_RestrictProfilingToAdminUsers=0";
    }
    return made;
}

fact judge_kernel(const machine_readings& read) {
    fact made{.name = "kernel and C library"};
    if (read.release.empty()) {
        made.why = "uname() failed";
        return made;
    }
    made.state = fact_state::yes;
    made.why = fmt::format("Linux {} on {}, {}", read.release, read.clock.machine,
                           read.c_library.empty() ? "a C library without a version"
                                                  : read.c_library.c_str());
    return made;
}

}  // namespace

facts judge_machine(const machine_readings& read) {
    return {judge_scopes(),
            judge_switches(read.switches, read.privileges),
            under_filter(judge_sums(read.threads), read.privileges),
            under_filter(judge_calls(read.threads), read.privileges),
            under_filter(judge_holders(read), read.privileges),
            judge_clock(read.clock),
            judge_lines(read.libdw),
            judge_devices(read),
            judge_processors(read.container),
            judge_memory(read.container),
            judge_folder(read.traces, read.folder),
            judge_descriptors(read.limits, read.container.online),
            judge_locked_memory(read),
            judge_kernel(read)};
}

}  // namespace coroscope::tools
