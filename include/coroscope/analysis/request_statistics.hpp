// SPDX-License-Identifier: Apache-2.0
#pragma once

// The requests of a trace: their percentiles, the parts of their time, and what belongs to one of
// them.
//
// If no request is marked (coroscope/request.hpp), requests are guessed. They are then the calls of
// one function: of those that await something, the one that calls the most different functions in
// tasks. Two kinds of functions are left out as loops that serve requests: a function that repeats
// another one at least sixteen times on average and that no function repeats as often; and a
// function that awaits at least sixteen times itself and lasts for more than half of the session.
// If no function is left, the requests are the tasks with the spawn site of the slowest finished
// task.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// All requests of a trace.
struct request_list {
    std::vector<request_info> requests;  ///< by id, which is their place from 1
    bool guessed = false;
    bool failures_known = true;  ///< false: a completed request may have failed
};

/// Returns the marked requests, else the guessed ones.
[[nodiscard]] COROSCOPE_API request_list requests_of(const trace& loaded);

/// The parts of a request's wall time, which add up to it: those of the task in which it began. The
/// time in which that task awaited its children is suspended. A request outside tasks runs if it is
/// a scope on a thread's stack. The parts of other requests outside tasks are unknown.
struct request_time {
    std::int64_t wall_ns = 0;
    time_split time;
    state_times states;  ///< of time.running_ns; all unknown without states
    bool known = true;   ///< false: only wall_ns is known
};

/// Returns the times of these requests. It is fastest if they are in the order of their starts.
[[nodiscard]] COROSCOPE_API std::vector<request_time>
times_of_requests(const trace& loaded, std::span<const request_info> requests);

/// The request at a percentile of the wall times of its type, by nearest rank.
struct request_percentile {
    std::string_view name;  ///< "p50", "p90", "p99", "p99.9", "max"
    std::uint64_t id = 0;
    request_time time;
};

/// The requests of one name.
struct request_type {
    std::string name;
    std::uint32_t site = none;  ///< index into trace::sites; none: run-time labels, several sites
    std::uint64_t count = 0;    ///< whole requests: completed or failed, and begun in the session
    std::uint64_t failed = 0;
    std::uint64_t late = 0;           ///< longer than their deadline, whole or not
    std::uint64_t with_deadline = 0;  ///< whole or not
    std::uint64_t abandoned = 0;
    std::uint64_t unfinished = 0;                 ///< begin or end is outside the session, or lost
    double per_second = 0;                        ///< whole requests per second of the session
    std::int64_t total_ns = 0;                    ///< of whole requests
    std::vector<request_percentile> percentiles;  ///< of whole requests; empty without any
    std::uint64_t in_full = 0;  ///< whole requests that are not left out (request_info::left_out)
    /// The percentiles of these requests alone, because the parts of the time of the others are
    /// unknown. Equal to `percentiles` if no request is left out.
    std::vector<request_percentile> parts;
};

/// Returns one entry per name, the longest total first.
[[nodiscard]] COROSCOPE_API std::vector<request_type>
statistics_of_requests(const trace& loaded, const request_list& list);

/// A moment of a task or a thread, as coroscope::current_request() names it.
struct request_moment {
    std::uint64_t task_id = 0;    ///< 0: outside tasks
    std::uint32_t thread_id = 0;  ///< 0: unknown
    std::int64_t monotonic_ns = 0;
};

/// Reads "2080@81234567890123" and "t3@81234567890123".
[[nodiscard]] COROSCOPE_API std::optional<request_moment>
read_request_moment(std::string_view text);

/// Returns the slowest whole request (request_info::is_whole()) that is not left out, else the
/// slowest one: a place in the list.
[[nodiscard]] COROSCOPE_API std::optional<std::size_t> find_slowest(const request_list& list);

/// Returns the request with this id: a place in the list.
[[nodiscard]] COROSCOPE_API std::optional<std::size_t> find_request(const request_list& list,
                                                                    std::uint64_t id);

/// Returns the innermost request that was open at that moment in the task, else in the task that
/// created it when it did, and so on.
[[nodiscard]] COROSCOPE_API std::optional<std::size_t>
find_request(const trace& loaded, const request_list& list, const request_moment& at);

/// The kind of a step of a request.
enum class request_step_kind : std::uint8_t { scope, await, task };

/// A scope, an await or a child task of a request.
struct request_step {
    request_step_kind kind = request_step_kind::scope;
    std::uint32_t index = none;  ///< into trace::events, awaits or tasks
    std::uint32_t depth = 0;     ///< number of enclosing steps; a child task encloses its own steps
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
};

/// Returns the steps of a request by their start, each child task before its own steps. The
/// children are the tasks that its task (or, outside tasks, its thread) created while it was open,
/// and their children.
[[nodiscard]] COROSCOPE_API std::vector<request_step> steps_of_request(const trace& loaded,
                                                                       const request_info& request);

}  // namespace coroscope::analysis
