// SPDX-License-Identifier: Apache-2.0

// The cost of a session in an idle process: its helper thread checks the trace from time to time.

#include <time.h>

#include <coroscope/coroscope.hpp>

#include "harness.hpp"
#include "once.hpp"
#include "trace_path.hpp"
#include "whole_traces.hpp"

namespace bench {
namespace {

constexpr timespec settling{0, 300'000'000};  // sleeps grow from turn to turn
constexpr timespec watched{2, 0};

// Returns milliseconds of processor time per second, for a session that has recorded `scopes`
// scopes and is idle.
once_result idle_after(std::uint64_t scopes, std::uint64_t limit_bytes) {
    const trace_path place;
    if (!place.made()) return {0, {}, "no folder for a trace"};
    coroscope::profile session{
        {.output = place.file(), .all_threads = true, .limit_bytes = limit_bytes}};
    for (std::uint64_t each = 0; each < scopes; ++each) {
        COROSCOPE("bench");
        clobber();
    }
    nanosleep(&settling, nullptr);
    const double before = processor_seconds();
    nanosleep(&watched, nullptr);
    const double used = processor_seconds() - before;
    const bool full = session.status().lost_records != 0;
    session.stop();
    const bool as_meant = full == (scopes != 0);
    return {
        1000 * used / static_cast<double>(watched.tv_sec), {}, as_meant ? "" : "it is not full"};
}

once_result idle() { return idle_after(0, std::uint64_t{1} << 30); }

once_result full() { return idle_after(1'000'000, std::uint64_t{4} << 20); }

}  // namespace

std::vector<once_row> idle_rows() {
    return {{"session.idle", "ms/s", idle}, {"session.full", "ms/s", full}};
}

}  // namespace bench
