// SPDX-License-Identifier: Apache-2.0
#pragma once

// What torch's profiler writes, from an event_list whose tree has been built.
//
//     auto written = analysis::export_chrome_trace(events, "run.pt.trace.json");
//
// Every export streams to a sink, or to a file: that is written as PATH.tmp and then renamed, so that no half file
// bears the name. All JSON is valid whatever names hold. They fail where the sink or the file does; what cannot
// be written of a list is never left out in silence but is no part of the format, as each says. Thread-safe on
// different lists.

#include <cstdint>
#include <string>
#include <string_view>

#include <coroscope/analysis/chrome.hpp>
#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// How many events (lines, nodes) an export wrote.
using written = result<std::uint64_t>;

/// Kineto's form of Chrome's JSON: microseconds with three decimals from baseTimeNanoseconds on, arguments under
/// Kineto's names, arrows "ac2g" from runtime calls to what they launched and "fwdbwd" from deferred work to where
/// it ran (a file's own arrows instead, where the list has them), memory as instants. Asynchronous events are "b"
/// and "e", which may overlap. load_events reads it back to the same averages; of an asynchronous event the
/// division of its time is written as arguments.
[[nodiscard]] COROSCOPE_API written export_chrome_trace(const event_list& events,
                                                        const byte_sink& sink);
[[nodiscard]] COROSCOPE_API written export_chrome_trace(const event_list& events,
                                                        const std::string& path);

/// What export_stacks takes, separated by ", ". "cuda" in a metric reads as "device".
[[nodiscard]] COROSCOPE_API std::string_view stack_metrics() noexcept;

/// A line per event with a stack and at least a microsecond of the metric: frames outermost first joined by ";",
/// a space, whole microseconds; flame graph programs add equal stacks up. Fails for an unknown metric.
[[nodiscard]] COROSCOPE_API written export_stacks(const event_list& events, std::string_view metric,
                                                  const byte_sink& sink);
[[nodiscard]] COROSCOPE_API written export_stacks(const event_list& events, std::string_view metric,
                                                  const std::string& path);

/// [times, sizes, categories, actions]: moments in whole microseconds; at each, bytes in use per category; their
/// names (devices; "more devices" for those beyond the 256th); and each step as [time, action, bytes, category],
/// the action one of PREEXISTING (released though nobody saw it allocated), CREATE, INCREMENT_VERSION (allocated
/// again in place) and DESTROY.
[[nodiscard]] COROSCOPE_API written export_memory_timeline(const event_list& events,
                                                           const byte_sink& sink);
[[nodiscard]] COROSCOPE_API written export_memory_timeline(const event_list& events,
                                                           const std::string& path);

/// The execution-trace observer's graph {schema, pid, time, start_ts, nodes, finish_ts}: a node per operation and
/// annotation, ids from 2, under a node per thread; the root is 1, its own parent, and is written last.
[[nodiscard]] COROSCOPE_API written export_execution_graph(const event_list& events,
                                                           const byte_sink& sink);
[[nodiscard]] COROSCOPE_API written export_execution_graph(const event_list& events,
                                                           const std::string& path);

}  // namespace coroscope::analysis
