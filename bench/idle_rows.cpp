// SPDX-License-Identifier: Apache-2.0

// What a session costs a process that does nothing: its helper thread looks after the trace from time to time.

#include <cstdlib>
#include <string>

#include <time.h>
#include <unistd.h>

#include <coroscope/coroscope.hpp>

#include "harness.hpp"
#include "once.hpp"
#include "whole_traces.hpp"

namespace bench {
namespace {

constexpr timespec settling{0, 300'000'000};  // sleeps grow from turn to turn
constexpr timespec watched{2, 0};

/// A folder that is gone with what is in it: a trace is a new file.
class trace_path {
public:
    trace_path() {
        const char* where = std::getenv("TMPDIR");
        folder_ = std::string(where != nullptr ? where : "/tmp") + "/coroscope-bench-XXXXXX";
        made_ = mkdtemp(folder_.data()) != nullptr;
        file_ = folder_ + "/trace.cst";
    }
    ~trace_path() {
        unlink(file_.c_str());
        rmdir(folder_.c_str());
    }
    trace_path(const trace_path&) = delete;
    trace_path& operator=(const trace_path&) = delete;

    [[nodiscard]] bool made() const { return made_; }
    [[nodiscard]] const char* file() const { return file_.c_str(); }

private:
    std::string folder_;
    std::string file_;
    bool made_ = false;
};

// Milliseconds of processor time per second of a session that has recorded so many scopes, and does nothing more.
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
