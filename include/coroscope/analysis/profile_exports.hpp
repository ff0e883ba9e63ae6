// SPDX-License-Identifier: Apache-2.0
#pragma once

// Exports of a native trace as profiles: stacks with times, for viewers of profiles. The stacks are
// those of folded_stacks.hpp: scopes and await chains are the frames, so no recorded call stacks
// are needed. Each frame has the place of its site, unless it has several.
//
// Every export streams to a sink and fails if the sink fails. Beside the loaded trace, an export
// needs eight bytes per scope and some memory for each different stack. Names from the trace become
// valid UTF-8 on one line. Thread-safe for different traces; a trace is only read.

#include <cstdint>

#include <coroscope/analysis/chrome.hpp>
#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Writes speedscope's JSON format, in nanoseconds: a timeline for each of the slowest requests
/// (its critical path, the slowest request first), one for each thread, and last the sums of all
/// stacks. The innermost frame is the kind of the time, such as "[queued]". Returns the number of
/// profiles.
[[nodiscard]] COROSCOPE_API written export_speedscope(const trace& from, const byte_sink& sink);

/// Writes a profile of pprof's format, profile.proto compressed by gzip. Each stack is a sample
/// with these values in nanoseconds: wall, running, on-cpu, blocked, preempted, queued, suspended,
/// waiting. `running` includes the next three; the wall time is running, queued, suspended and
/// waiting time. Returns the number of samples.
[[nodiscard]] COROSCOPE_API written export_pprof(const trace& from, const byte_sink& sink);

/// Writes a processed profile of the Firefox Profiler, version 62 of that format: a thread for each
/// of the slowest requests (its critical path), one for each thread of the program, with its waits
/// for locks and resources and its blocking calls as markers, and the markers of all requests and
/// all awaits. The weight of a sample is the length of its stack. Returns the number of threads.
[[nodiscard]] COROSCOPE_API written export_firefox(const trace& from, const byte_sink& sink);

}  // namespace coroscope::analysis
