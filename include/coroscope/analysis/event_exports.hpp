// SPDX-License-Identifier: Apache-2.0
#pragma once

// The exports of torch's profiler, from an event_list whose tree has been built.
//
//     auto written = analysis::export_chrome_trace(events, "run.pt.trace.json");
//
// Every export streams to a sink or to a file. A file is written as PATH.tmp and then renamed, so
// that no partial file has the name. All JSON is valid, whatever the names contain. An export fails
// if its sink or file fails. Each comment below describes the parts of a list that its format
// cannot hold.
//
// Thread-safe for different lists.

#include <cstdint>
#include <string>
#include <string_view>

#include <coroscope/analysis/chrome.hpp>
#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The number of events (lines, nodes) that an export wrote, or its error.
using written = result<std::uint64_t>;

/// Kineto's form of Chrome's JSON. Times are microseconds with three decimals since
/// baseTimeNanoseconds. Arguments have Kineto's names. Arrows "ac2g" lead from runtime calls to the
/// launched work, and arrows "fwdbwd" from deferred work to its execution; if the list has arrows
/// of a file, those replace both. Memory records are instants. Asynchronous events are "b" and "e",
/// which may overlap; the division of their time is written as arguments. load_events reads the
/// file back to the same averages.
[[nodiscard]] COROSCOPE_API written export_chrome_trace(const event_list& events,
                                                        const byte_sink& sink);
[[nodiscard]] COROSCOPE_API written export_chrome_trace(const event_list& events,
                                                        const std::string& path);

/// Returns the valid metrics of export_stacks, separated by ", ". "cuda" in a metric means
/// "device".
[[nodiscard]] COROSCOPE_API std::string_view stack_metrics() noexcept;

/// Writes a line per event with a stack and at least one microsecond of the metric: the frames,
/// outermost first and joined by ";", a space, and whole microseconds. Flame graph programs add up
/// equal stacks. Fails if the metric is unknown.
[[nodiscard]] COROSCOPE_API written export_stacks(const event_list& events, std::string_view metric,
                                                  const byte_sink& sink);
[[nodiscard]] COROSCOPE_API written export_stacks(const event_list& events, std::string_view metric,
                                                  const std::string& path);

/// Writes [times, sizes, categories, actions]. Times are whole microseconds; sizes are the bytes in
/// use per category at each time. Categories are the names of devices; devices after the first 256
/// share "more devices". Each action is [time, action, bytes, category], with one of these values:
/// PREEXISTING (released without a recorded allocation), CREATE, INCREMENT_VERSION (allocated again
/// in place) or DESTROY.
[[nodiscard]] COROSCOPE_API written export_memory_timeline(const event_list& events,
                                                           const byte_sink& sink);
[[nodiscard]] COROSCOPE_API written export_memory_timeline(const event_list& events,
                                                           const std::string& path);

/// Writes the graph of the execution-trace observer, {schema, pid, time, start_ts, nodes,
/// finish_ts}: a node per operation and annotation, with ids from 2, under a node per thread. The
/// root has id 1, is its own parent, and is written last.
[[nodiscard]] COROSCOPE_API written export_execution_graph(const event_list& events,
                                                           const byte_sink& sink);
[[nodiscard]] COROSCOPE_API written export_execution_graph(const event_list& events,
                                                           const std::string& path);

}  // namespace coroscope::analysis
