// SPDX-License-Identifier: Apache-2.0

// The cost of a session to the whole process: processor time of all its threads, the recorder's
// included, and memory.

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <limits>

#include <sys/resource.h>

#include <coroscope/coroscope.hpp>

#include "harness.hpp"
#include "once.hpp"
#include "trace_path.hpp"
#include "whole_traces.hpp"

namespace bench {
namespace {

constexpr std::uint64_t limit_bytes = std::uint64_t{4} << 30;

void record_scopes(std::uint64_t count) {
    for (std::uint64_t each = 0; each < count; ++each) {
        COROSCOPE("bench");
        clobber();
    }
}

double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Nanoseconds per scope.
struct session_cost {
    double thread = std::numeric_limits<double>::infinity();   ///< of the recording thread
    double process = std::numeric_limits<double>::infinity();  ///< of all threads, with the stop
    std::uint64_t lost = 0;
};

// Records a new file of an eighth of a gigabyte. The start, which measures the clock, does not
// count.
session_cost record_file(const char* file) {
    constexpr std::uint64_t scopes = 8'000'000;
    coroscope::profile session{{.output = file, .all_threads = true, .limit_bytes = limit_bytes}};
    const double process = processor_seconds();
    const double thread = thread_seconds();
    record_scopes(scopes);
    const double recorded = thread_seconds();
    session.stop();
    const double stopped = processor_seconds();
    constexpr double per_scope = 1e9 / static_cast<double>(scopes);
    return {(recorded - thread) * per_scope, (stopped - process) * per_scope,
            session.status().lost_records};
}

// The least of some sessions for each of the two times: a page of the file costs several times as
// much if the machine's host has to find memory for it, or while the disk writes.
once_result process_cost() {
    constexpr int sessions = 15;
    const trace_path place;
    if (!place.made()) return {0, {}, "no folder for a trace"};
    session_cost least;
    for (int each = 0; each < sessions; ++each) {
        const session_cost cost = record_file(place.file());
        least.thread = std::min(least.thread, cost.thread);
        least.process = std::min(least.process, cost.process);
        least.lost += cost.lost;
    }
    return {least.process, least.thread, least.lost == 0 ? "" : "records were lost"};
}

// Megabytes that the process had in memory at most while it recorded half a gigabyte.
once_result resident() {
    const trace_path place;
    if (!place.made()) return {0, {}, "no folder for a trace"};
    coroscope::profile session{
        {.output = place.file(), .all_threads = true, .limit_bytes = limit_bytes}};
    record_scopes(32'000'000);
    session.stop();
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const bool whole = session.status().lost_records == 0;
    return {static_cast<double>(used.ru_maxrss) / 1024, {}, whole ? "" : "records were lost"};
}

}  // namespace

std::vector<once_row> process_rows() {
    return {{"scope.process", "ns", process_cost}, {"memory.session_resident", "MB", resident}};
}

}  // namespace bench
