// SPDX-License-Identifier: Apache-2.0
#pragma once

// A task record, decoded.

#include <cstdint>
#include <limits>
#include <tuple>

#include <coroscope/analysis/index_range.hpp>
#include <coroscope/analysis/packed_rows.hpp>
#include <coroscope/trace/executor_format.hpp>
#include <coroscope/trace/format.hpp>

namespace coroscope::analysis::inline records {

inline constexpr std::int64_t unknown_time = std::numeric_limits<std::int64_t>::min();

/// The cause of a resume, of a cancel or of a wake.
enum class op_cause : std::uint8_t {
    unknown,
    final_suspension,  ///< resumed by a task in its final suspension
    await_suspension,  ///< resumed by a task in the suspension of an await
    after_others,      ///< the same, after other tasks had run in that suspension
    call,              ///< resumed by the work that set the awaited result, by a call
    body,              ///< resumed by a task that ran
    tasks_ran,         ///< cancelled after other tasks ran; `by`: the last one, if it has ended
    timer,             ///< woken by a timer; the time of the wake is the timer's expiry
    cancellation,      ///< woken by a task that cancelled what it waited for
    result,            ///< woken by the result of a task that ended before
};

/// A task record, decoded. `task` and `other` are its third and fourth word as indices into
/// trace::tasks. An operation of kind `none` is the beginning of a chunk, and `task` is the task
/// that was current there.
struct task_op {
    std::int64_t time_ns = 0;
    std::uint32_t task = none;
    std::uint32_t other = none;
    /// Index into trace::sites; for a wake or a resume, into trace::executors.
    std::uint32_t site = none;
    /// Flags. For a spawn, above them an index into trace::executors, plus 1 (ready_executor_of()).
    /// For a wake, the waker's thread (an index or `none`). For a suspension, the awaited object
    /// (an index or `none`). For the beginning of a chunk, the index of the chunk in its stream.
    /// For a fact, which is one about the outcome of an await, that outcome.
    std::uint32_t value = 0;
    std::uint32_t thread = none;
    std::uint32_t position = 0;  ///< in its stream
    coroscope::trace::record_kind kind = coroscope::trace::record_kind::none;
    op_cause cause = op_cause::unknown;  ///< filled by build_timeline(), except for a wake
    std::uint32_t by = none;             ///< the task that the cause names
};
static_assert(sizeof(task_op) == 40);

/// Returns whether a task resumed this one while it waited itself.
[[nodiscard]] constexpr bool is_in_suspension(const task_op& resume) {
    return resume.cause == op_cause::await_suspension || resume.cause == op_cause::after_others ||
           resume.cause == op_cause::call;
}

/// The executor that got the task of a spawn record: index into trace::executors.
[[nodiscard]] constexpr std::uint32_t ready_executor_of(const task_op& spawn) {
    const std::uint32_t kept = coroscope::trace::spawn_executor_of(spawn.value);
    return kept == 0 ? none : kept - 1;
}

}  // namespace coroscope::analysis::inline records

namespace coroscope::analysis {

template <>
struct packed_columns<task_op> {
    using type = std::tuple<packed_member<&task_op::time_ns>, packed_member<&task_op::task>,
                            packed_member<&task_op::other>, packed_member<&task_op::site>,
                            packed_member<&task_op::value>, packed_member<&task_op::thread>,
                            packed_member<&task_op::position>, packed_member<&task_op::kind>,
                            packed_member<&task_op::cause>, packed_member<&task_op::by>>;
};

}  // namespace coroscope::analysis
