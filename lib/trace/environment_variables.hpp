// SPDX-License-Identifier: Apache-2.0
#pragma once

// The environment variables of a recorded program. The recorder reads them, `coroscope run` sets
// them.
//
// To add a variable: add its enumerator and its row. If it switches on a bool of profile_options,
// add that to `switches` in environment.cpp. `run --record` takes each variable whose row has a
// word for it.

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace coroscope::trace {

enum class variable : std::uint8_t {
    trace,          ///< the file into which the whole process is recorded
    trace_owner,    ///< the process that writes that file; others write FILE.PID
    limit,          ///< the largest size of the trace: bytes, or 64K, 64M, 64G
    policy,         ///< profile_options::policy
    arguments,      ///< profile_options::record_arguments
    shapes,         ///< profile_options::record_shapes
    flops,          ///< profile_options::with_flops
    memory,         ///< profile_options::profile_memory
    stacks,         ///< profile_options::with_stack
    modules,        ///< profile_options::with_modules
    thread_states,  ///< profile_options::thread_states; switches: also under a seccomp filter
    open_scopes,    ///< profile_options::open_scopes, in each session of the process
    device,         ///< profile_options::use_device
    crash,          ///< profile_options::crash_report, on stderr
    live,           ///< live tasks are tracked: async_stack.hpp
    anomaly,        ///< tasks that fail are reported on stderr: anomaly.hpp
    usdt,           ///< scopes and tasks are shown as probes: integration/usdt.hpp
    clock,          ///< the clock of each session of the process
    cupti,          ///< the file of NVIDIA's library
    blocking,       ///< calls that block are recorded, in each session of the process
    blocking_us,    ///< the shortest such call, in microseconds
    locks,          ///< waits for locks are recorded, in each session of the process
    spawns,         ///< the calls of co_spawn and post are found on the stack, in each session
    sample,         ///< profile_options::request_interval
    budget,         ///< profile_options::budget_percent, with or without a %
    rotate,         ///< profile_options::rotate_bytes: bytes, or 64K, 64M, 64G
    keep,           ///< profile_options::keep_files
};

struct variable_row {
    variable is;
    const char* name;
    const char* words[3]{};          ///< the values that it may have; none: any text
    const char* requirement = "";    ///< behind the name and before a wrong value, in a message
    const char* recorded = nullptr;  ///< the word for it in `run --record`; null: none
    const char* record_value = "1";  ///< the value that `run --record` gives it
};

inline constexpr const char* is_a_switch = "is 1 or 0; 0 is used instead of ";

inline constexpr variable_row variables[] = {
    {variable::trace, "COROSCOPE_TRACE"},
    {variable::trace_owner, "COROSCOPE_TRACE_OWNER"},
    {variable::limit,
     "COROSCOPE_LIMIT",
     {},
     "is a number of bytes, or one of K, M or G (64M); the default is used instead of "},
    {variable::policy,
     "COROSCOPE_POLICY",
     {"drop", "overwrite", "wait"},
     "is drop, overwrite or wait; drop is used instead of "},
    {variable::arguments, "COROSCOPE_ARGUMENTS", {"1", "0"}, is_a_switch, "arguments"},
    {variable::shapes, "COROSCOPE_SHAPES", {"1", "0"}, is_a_switch, "shapes"},
    {variable::flops, "COROSCOPE_FLOPS", {"1", "0"}, is_a_switch, "flops"},
    {variable::memory, "COROSCOPE_MEMORY", {"1", "0"}, is_a_switch, "memory"},
    {variable::stacks, "COROSCOPE_STACKS", {"1", "0"}, is_a_switch, "stacks"},
    {variable::modules, "COROSCOPE_MODULES", {"1", "0"}, is_a_switch, "modules"},
    {variable::thread_states,
     "COROSCOPE_THREAD_STATES",
     {"1", "0", "switches"},
     "is 1, 0 or switches; 1 is used instead of ",
     "no-thread-states",
     "0"},
    {variable::open_scopes, "COROSCOPE_OPEN_SCOPES", {"1", "0"}, is_a_switch},
    {variable::device, "COROSCOPE_DEVICE", {}, "", "cuda", "cuda"},
    {variable::crash, "COROSCOPE_CRASH", {"1", "0"}, is_a_switch},
    {variable::live, "COROSCOPE_LIVE", {"1", "0"}, is_a_switch},
    {variable::anomaly, "COROSCOPE_ANOMALY", {"1", "0"}, is_a_switch},
    {variable::usdt, "COROSCOPE_USDT", {"1", "0"}, is_a_switch},
    {variable::clock,
     "COROSCOPE_CLOCK",
     {"monotonic"},
     "is monotonic or empty; the clock is chosen by Coroscope instead of by "},
    {variable::cupti, "COROSCOPE_CUPTI"},
    {variable::blocking, "COROSCOPE_BLOCKING", {"1", "0"}, is_a_switch, "blocking"},
    {variable::blocking_us,
     "COROSCOPE_BLOCKING_US",
     {},
     "is a number of microseconds; 1000 is used instead of "},
    {variable::locks, "COROSCOPE_LOCKS", {"1", "0"}, is_a_switch, "locks"},
    {variable::spawns, "COROSCOPE_SPAWNS", {"1", "0"}, is_a_switch, "spawns"},
    {variable::sample,
     "COROSCOPE_SAMPLE",
     {},
     "is a number of requests from 1 to 65536; 1 is used instead of "},
    {variable::budget,
     "COROSCOPE_BUDGET",
     {},
     "is a percentage from 0 to 100, as 1% or 0.5; 0 is used instead of "},
    {variable::rotate,
     "COROSCOPE_ROTATE",
     {},
     "is a number of bytes, or one of K, M or G (64M); the session has one file instead of files "
     "of "},
    {variable::keep,
     "COROSCOPE_KEEP",
     {},
     "is a number of files, 1 or more; 4 is used instead of "},
};

constexpr const variable_row& row_of(variable which) noexcept {
    return variables[static_cast<std::size_t>(which)];
}
constexpr const char* name_of(variable which) noexcept { return row_of(which).name; }

constexpr bool rows_are_in_order() noexcept {
    for (std::size_t at = 0; at < std::size(variables); ++at)
        if (static_cast<std::size_t>(variables[at].is) != at) return false;
    return true;
}
static_assert(rows_are_in_order(), "the rows are in the order of the enumerators");

}  // namespace coroscope::trace
