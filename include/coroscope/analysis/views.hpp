// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the command line shows beside the table: listings of tasks, awaits and threads, a task's
// story, what a trace holds, and the summary that ends a recording. They only write down what the
// model and the statistics say. Pure functions; safe on any thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/listing.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/slowest_request.hpp>
#include <coroscope/analysis/stream_statistics.hpp>
#include <coroscope/analysis/task_statistics.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Tasks by spawn site: count, states, split, percentiles of the wall time.
[[nodiscard]] COROSCOPE_API listing
list_task_sites(const trace& loaded, const std::vector<task_site_statistics>& statistics);

/// Every task, each behind its parent; the depth is a column and, in the name, two spaces per
/// level.
[[nodiscard]] COROSCOPE_API listing list_task_tree(const trace& loaded);

/// The task with this id: index into trace::tasks.
[[nodiscard]] COROSCOPE_API std::optional<std::uint32_t> find_task(const trace& loaded,
                                                                   std::uint64_t id);

/// One task's awaits and slices, by time.
[[nodiscard]] COROSCOPE_API listing list_task_awaits(const trace& loaded, std::uint32_t task);
[[nodiscard]] COROSCOPE_API listing list_task_slices(const trace& loaded, std::uint32_t task);

/// One task: its facts, its awaits and its slices.
[[nodiscard]] COROSCOPE_API std::string task_text(const trace& loaded, std::uint32_t task,
                                                  const listing_options& options = {});
[[nodiscard]] COROSCOPE_API std::string task_json(const trace& loaded, std::uint32_t task);

/// Awaits by await site, with the scope that encloses most of them.
[[nodiscard]] COROSCOPE_API listing
list_await_sites(const trace& loaded, const std::vector<await_site_statistics>& statistics);

/// Awaits by the chain of spawn and await sites that led to them, outermost first.
[[nodiscard]] COROSCOPE_API listing list_await_chains(const trace& loaded,
                                                      const std::vector<await_chain>& chains);

/// Streams by label: the delay of the first item, the gaps between the others.
[[nodiscard]] COROSCOPE_API listing list_streams(const std::vector<stream_statistics>& statistics);

/// The ranges that ended with a stream of a device: what they asked it for, when that ran, and how long it was queued.
[[nodiscard]] COROSCOPE_API listing list_device_ranges(const trace& loaded);

/// The threads: what each recorded and lost.
[[nodiscard]] COROSCOPE_API listing list_threads(const trace& loaded);

/// What a trace holds: process, clock, sizes, threads, the recorder's own cost, losses.
[[nodiscard]] COROSCOPE_API std::string info_text(const trace& loaded);
[[nodiscard]] COROSCOPE_API std::string info_json(const trace& loaded);

/// "slowest request: 12.3 ms = 0.4 ms running + …, most of it in db.query at store.cpp:42".
[[nodiscard]] COROSCOPE_API std::string slow_request_sentence(const trace& loaded,
                                                              const slow_request& request);

/// The same of a trace in a file: it ends in the command that tells more.
[[nodiscard]] COROSCOPE_API std::string slow_request_sentence(const trace& loaded,
                                                              const slow_request& request,
                                                              std::string_view trace_path);

/// The lines that tell what a trace lost, each ended by a newline; empty for a healthy one.
[[nodiscard]] COROSCOPE_API std::string loss_notes(const trace& loaded);

struct summary_options {
    std::int64_t table_rows = 15;
    std::int64_t task_rows = 10;
    std::int64_t await_rows = 10;
};

/// Where the time of a recording went, on about a screen: table, tasks, awaits, the slowest
/// request, losses.
[[nodiscard]] COROSCOPE_API std::string summary(const trace& loaded,
                                                const summary_options& options = {});

/// The same of a trace in a file, with the command that tells more of that request.
[[nodiscard]] COROSCOPE_API std::string summary(const trace& loaded, const summary_options& options,
                                                std::string_view trace_path);

}  // namespace coroscope::analysis
