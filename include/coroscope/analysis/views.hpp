// SPDX-License-Identifier: Apache-2.0
#pragma once

// The outputs of the command line beside the table: listings of tasks, awaits and threads, the
// history of one task, the contents of a trace, and the summary at the end of a recording. They
// only format the results of the model and the statistics.
//
// Thread-safety: pure functions, safe on any thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/await_blame.hpp>
#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/blocking_statistics.hpp>
#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/executor_statistics.hpp>
#include <coroscope/analysis/listing.hpp>
#include <coroscope/analysis/lock_statistics.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/request_paths.hpp>
#include <coroscope/analysis/request_statistics.hpp>
#include <coroscope/analysis/resource_statistics.hpp>
#include <coroscope/analysis/slow_requests.hpp>
#include <coroscope/analysis/slowest_request.hpp>
#include <coroscope/analysis/stream_statistics.hpp>
#include <coroscope/analysis/task_statistics.hpp>
#include <coroscope/analysis/value_statistics.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Tasks by spawn site: count, states, split, percentiles of the wall time.
[[nodiscard]] COROSCOPE_API listing
list_task_sites(const trace& loaded, const std::vector<task_site_statistics>& statistics);

/// Every task, after its parent. The depth is a column, and the name is indented by two spaces per
/// level.
[[nodiscard]] COROSCOPE_API listing list_task_tree(const trace& loaded);

/// Returns the task with this id: an index into trace::tasks.
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

/// The waits for resources by name: their lengths, and the most frequent holder.
[[nodiscard]] COROSCOPE_API listing
list_resources(const trace& loaded, const std::vector<resource_statistics>& statistics);

/// Requests by name: count, rate, failures, missed deadlines, percentiles of the wall time.
[[nodiscard]] COROSCOPE_API listing list_request_types(const trace& loaded,
                                                       const request_list& list,
                                                       const std::vector<request_type>& types);

/// The parts of the time of the request at each percentile.
[[nodiscard]] COROSCOPE_API listing
list_request_percentiles(const trace& loaded, const std::vector<request_type>& types);

/// The slowest requests, the longest first, at most `limit`; -1: all.
[[nodiscard]] COROSCOPE_API listing list_slowest_requests(const trace& loaded,
                                                          const request_list& list,
                                                          std::int64_t limit);

/// One request's scopes, awaits and child tasks, by time.
[[nodiscard]] COROSCOPE_API listing list_request_steps(const trace& loaded,
                                                       const request_info& request);

/// One request (a place in the list): its facts and its steps.
[[nodiscard]] COROSCOPE_API std::string request_text(const trace& loaded, const request_list& list,
                                                     std::size_t at,
                                                     const listing_options& options = {});
[[nodiscard]] COROSCOPE_API std::string request_json(const trace& loaded, const request_list& list,
                                                     std::size_t at);

/// The recorded values by label, place and scope.
[[nodiscard]] COROSCOPE_API listing list_values(const trace& loaded,
                                                const std::vector<value_statistics>& statistics);

/// The attributes whose values are numbers, by key: the entries of statistics_of_attributes().
[[nodiscard]] COROSCOPE_API listing
list_attributes(const std::vector<value_statistics>& statistics);

/// Executors: their threads, their busy time and their queues.
[[nodiscard]] COROSCOPE_API listing
list_executors(const trace& loaded, const std::vector<executor_statistics>& statistics);

/// A line for each saturated executor (is_saturated()), with a newline at its end.
[[nodiscard]] COROSCOPE_API std::string
saturation_notes(const trace& loaded, const std::vector<executor_statistics>& statistics);

/// The calls that blocked a thread, by function, kind of descriptor and place.
[[nodiscard]] COROSCOPE_API listing
list_blocking_calls(const trace& loaded, const std::vector<blocking_statistics>& statistics);

/// The segments of a critical path, by time.
[[nodiscard]] COROSCOPE_API listing list_path(const trace& loaded, const critical_path& path);

/// The parts of a critical path by kind and place, the longest first, each with its number of
/// segments and its share of the path's time in percent.
[[nodiscard]] COROSCOPE_API listing list_path_parts(const trace& loaded, const critical_path& path);

/// The critical paths of a type's requests as a tree: the mean time of each kind at each place, and
/// the mean in the requests around each percentile. Unless `all` is set, a node is left out, with
/// the nodes below it, if it has less than a hundredth of the wall time in each of these means.
[[nodiscard]] COROSCOPE_API listing list_request_paths(const trace& loaded, const request_paths& of,
                                                       bool all = false);

/// The waiting places, each with the places that made it wait.
[[nodiscard]] COROSCOPE_API listing list_await_blame(const trace& loaded,
                                                     const std::vector<await_blame>& blame);

/// The parts in which slow requests differ from median ones, the largest share first. Unless `all`
/// is set, parts of less than a hundredth of the difference are left out.
[[nodiscard]] COROSCOPE_API listing list_differences(const trace& loaded, const slow_requests& of,
                                                     bool all = false);

/// The comparison: the groups, the differences, the unexplained share, the requests in progress,
/// the attributes.
[[nodiscard]] COROSCOPE_API std::string slow_requests_text(const trace& loaded,
                                                           const slow_requests& of,
                                                           const listing_options& options = {});
/// The largest difference that the program's own work and waits explain, in one sentence: "the
/// slowest 30 of 3000 requests handle take 20.5 ms longer than the median: 58 % of it queued in …".
/// Empty if there is no such difference of at least a fifth, or if the slow requests take less than
/// twice as long as the median ones, or less than a millisecond more.
[[nodiscard]] COROSCOPE_API std::string slow_requests_sentence(const trace& loaded,
                                                               const slow_requests& of);
[[nodiscard]] COROSCOPE_API std::string slow_requests_json(const trace& loaded,
                                                           const slow_requests& of);

/// A critical path: its time and the sums by kind, its parts, its segments.
[[nodiscard]] COROSCOPE_API std::string path_text(const trace& loaded, const critical_path& path,
                                                  const listing_options& options = {});
[[nodiscard]] COROSCOPE_API std::string path_json(const trace& loaded, const critical_path& path);

/// The tree of list_request_paths() below the wall times.
[[nodiscard]] COROSCOPE_API std::string request_paths_text(const trace& loaded,
                                                           const request_paths& of,
                                                           const listing_options& options = {});
[[nodiscard]] COROSCOPE_API std::string request_paths_json(const trace& loaded,
                                                           const request_paths& of);

/// The waits for locks of the C library, by lock: their lengths, their places, the places of the
/// holders, and the longest wait.
[[nodiscard]] COROSCOPE_API listing list_locks(const trace& loaded,
                                               const std::vector<lock_statistics>& statistics);

/// The waits of a task for locks and resources, by time.
[[nodiscard]] COROSCOPE_API listing list_task_waits(const trace& loaded, std::uint32_t task);

/// The ranges that ended with a stream of a device: their requests, the times of that work, and its
/// queued time.
[[nodiscard]] COROSCOPE_API listing list_device_ranges(const trace& loaded);

/// The threads, with the records and losses of each.
[[nodiscard]] COROSCOPE_API listing list_threads(const trace& loaded);

/// The contents of a trace: process, clock, sizes, threads, the recorder's own cost, losses.
[[nodiscard]] COROSCOPE_API std::string info_text(const trace& loaded,
                                                  const listing_options& options = {});
[[nodiscard]] COROSCOPE_API std::string info_json(const trace& loaded);

/// "slowest request: 12.3 ms = 0.4 ms running + …, most of it in db.query at store.cpp:42".
[[nodiscard]] COROSCOPE_API std::string slow_request_sentence(const trace& loaded,
                                                              const slow_request& request);

/// As above, for a trace in a file: it ends in the command for the details.
[[nodiscard]] COROSCOPE_API std::string slow_request_sentence(const trace& loaded,
                                                              const slow_request& request,
                                                              std::string_view trace_path);

/// Returns a sentence about the requests that are recorded in full, ending in a newline; empty if
/// the session did not sample requests.
[[nodiscard]] COROSCOPE_API std::string sampling_note(const trace& loaded);

/// Lines about the losses of a trace, each with a newline at its end; empty for a trace without
/// losses.
[[nodiscard]] COROSCOPE_API std::string loss_notes(const trace& loaded);

/// The greatest number of rows in each part of the summary.
struct summary_options {
    std::int64_t table_rows = 15;
    std::int64_t task_rows = 10;
    std::int64_t await_rows = 10;
    std::size_t line_width = 0;  ///< as in listing_options
};

/// The division of a recording's time, on about one screen: table, tasks, awaits, the slowest
/// request, losses.
[[nodiscard]] COROSCOPE_API std::string summary(const trace& loaded,
                                                const summary_options& options = {});

/// As above, for a trace in a file, with the command for the details of that request.
[[nodiscard]] COROSCOPE_API std::string summary(const trace& loaded, const summary_options& options,
                                                std::string_view trace_path);

}  // namespace coroscope::analysis
