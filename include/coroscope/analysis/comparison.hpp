// SPDX-License-Identifier: Apache-2.0
#pragma once

// The comparison of recorded runs of two builds: the slower and the faster rows, each with a
// confidence interval of its change.
//
// Each trace is reduced to a summary, so only one trace at a time must be in memory. A row is a
// scope, an await, an executor or a type of request. The compared time of a row is its *low time*:
// the time that a tenth of its calls do not exceed. A call that the machine disturbs becomes
// slower, so the low time depends on the program more than the mean does. For an executor, the
// compared time is the mean.
//
// The intervals hold for all rows together: if nothing changed, every interval contains 0 in 95 of
// 100 comparisons. With several runs a side, the intervals follow mainly from the differences
// between the runs of a side. docs/how-to/comparing.md describes the method and its limits.
//
// Thread-safety: pure functions, safe on any thread.

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

enum class compared_kind : std::uint8_t { scope, await, executor, request };

/// "scope", "await", "executor", "request".
[[nodiscard]] COROSCOPE_API std::string_view name_of(compared_kind kind) noexcept;

/// The kinds of time that a row may compare.
enum class compared_time : std::uint8_t {
    /// Of a scope: its time on threads, without the scopes inside it. Preempted time is left out as
    /// far as it is known.
    own,
    /// Of a scope: `own` and the preempted time. A row compares it if it varies less than `own`:
    /// work that ends at a moment of the clock takes less own time if it is preempted.
    own_with_preempted,
    length,  ///< of a range: from its begin to its end
    /// Of an await: from its suspension to its wake, without the delay until the resume. If it
    /// waited for a recorded task, only the time for which that task and its own awaited tasks were
    /// suspended.
    suspended,
    waiting,  ///< of an await whose wakes are not known: from its suspension to its resume
    queued,   ///< of an executor: the mean time of a job in its queue while all threads were busy
    wall      ///< of a request
};

/// "own", "own_with_preempted", "length", "suspended", "waiting", "queued", "wall".
[[nodiscard]] COROSCOPE_API std::string_view name_of(compared_time time) noexcept;

/// The times of a row's calls in one run.
struct call_times {
    std::uint64_t count = 0;
    double low_ns = 0;  ///< the 10th percentile; of an executor, the mean
    /// The variance of the logarithm of `low_ns` that the run itself shows: between its parts, and
    /// between its fast calls. Valid if `parts` is not 0.
    double variance = 0;
    std::uint32_t parts = 0;   ///< the number of parts of the run; 0: too few calls
    double resolution_ns = 0;  ///< the least difference between two times; 0: unknown
};

/// One row of one run.
struct run_row {
    compared_kind kind = compared_kind::scope;
    compared_time measured = compared_time::own;
    std::string name;
    std::string file;  ///< empty: unknown
    std::uint32_t line = 0;
    call_times time;
    call_times with_delay;      ///< of an await: up to its resume; of a scope: with preempted time
    double calls = 0;           ///< the number of calls, with those without a known time
    double per_request = 0;     ///< calls per request, in requests and in tasks that these created
    double inner_per_call = 0;  ///< the mean number of scopes directly inside a call
};

/// One run.
struct run_summary {
    std::string title;  ///< the name of its file
    std::vector<run_row> rows;
    std::uint64_t requests = 0;  ///< the number of whole requests
    bool requests_guessed = false;
    std::string process_name;
    std::string clock;
    std::string categories;
    std::uint64_t features = 0;  ///< trace::asked_for
    bool all_threads = false;
    bool asio_tracked = false;
    bool states_known = false;  ///< each context switch was recorded
    bool damaged = false;       ///< chunks are missing, or reading was stopped
    bool finished = true;       ///< the session was stopped
    std::uint64_t lost = 0;     ///< records that were dropped, or came too late
    std::uint64_t overwritten = 0;
    std::uint64_t left_out_requests = 0;
    bool samples_requests = false;
    double scope_cost_ns = 0;
    double resolution_ns = 0;  ///< of the clock, as far as the times show it
};

/// Reduces a trace to the figures that a comparison needs. Takes O(n log n) steps for n records.
[[nodiscard]] COROSCOPE_API run_summary summarize_run(const trace& loaded, std::string title);

/// The change of a row, as far as the traces prove it.
enum class comparison_verdict : std::uint8_t {
    slower,    ///< the whole interval is above 0, and the change is at least 2 %
    faster,    ///< the whole interval is below 0, and the change is at least 2 %
    same,      ///< the interval of this row alone is within ±10 %, and contains 0
    unclear,   ///< the traces prove no other verdict
    appeared,  ///< "new": no run of the first side has it
    gone       ///< no run of the second side has it
};

/// "slower", "faster", "same", "unclear", "new", "gone".
[[nodiscard]] COROSCOPE_API std::string_view name_of(comparison_verdict verdict) noexcept;

/// One compared row. `name`, `file` and `line` are those of the second side, if it has the row.
struct comparison_row {
    compared_kind kind = compared_kind::scope;
    compared_time measured = compared_time::own;
    std::string name;
    std::string file;
    std::uint32_t line = 0;
    comparison_verdict verdict = comparison_verdict::unclear;
    std::optional<double> change;  ///< of the compared time: 0.1 is 10 % more
    std::optional<double> low;     ///< the interval of the change; none: the row has no interval
    std::optional<double> high;
    std::optional<double> before_ns;  ///< the compared times, as the median of the runs
    std::optional<double> after_ns;
    double calls_before = 0;  ///< per request or per run, see comparison::per_request
    double calls_after = 0;
    double effect_ns = 0;  ///< the change of the compared time, multiplied by the mean of the calls
    std::string note;      ///< the reason of the verdict, or how the row was found; may be empty
};

/// The comparison of two sides.
struct comparison {
    std::vector<std::string> before;  ///< titles of the runs
    std::vector<std::string> after;
    std::vector<comparison_row> rows;  ///< by verdict, then by the size of the effect
    std::vector<std::string> notes;    ///< differences and gaps of the recordings
    std::size_t certain_rows = 0;      ///< the number of rows with an interval
    /// Half of the rows with an interval are named only if they change by more than this: 0.08 is
    /// 8 %.
    double typical_uncertainty = 0;
    /// Calls and effects are those of a request. Else, if a run has no marked request, they are
    /// those of a run.
    bool per_request = false;

    /// Returns the number of rows with that verdict.
    [[nodiscard]] COROSCOPE_API std::size_t count(comparison_verdict verdict) const noexcept;
};

/// Compares runs of one build with runs of another one. Each side must have at least one run.
[[nodiscard]] COROSCOPE_API comparison compare_runs(std::span<const run_summary> before,
                                                    std::span<const run_summary> after);

}  // namespace coroscope::analysis
