// SPDX-License-Identifier: Apache-2.0
#pragma once

// The recording half of task transitions. Each function writes one record, on the thread of the
// transition. A task that the session does not know yet is announced first.

#include <cstdint>

#include <coroscope/detail/task_state.hpp>
#include <coroscope/trace/await_format.hpp>
#include <coroscope/trace/format.hpp>

namespace coroscope::detail {

/// Writes one transition of a task that runs on this thread or is about to; announces it if need
/// be.
void record_transition(task_state& task, trace::record_kind kind, std::uint32_t id,
                       std::uint32_t value, std::uint64_t other) noexcept;

/// Returns the id of the site of a task's coroutine; 0 if it is unknown.
std::uint32_t spawn_site_id(const task_state& task) noexcept;
/// Returns the id of the site for spawns of the task's coroutine at that place; without a place, as
/// above.
std::uint32_t spawn_site_id(const task_state& task, const task_origin& origin) noexcept;

/// Returns the key of a spawn site in the cache. For one `inside`, callers that differ in the low
/// 48 bits have different keys.
[[gnu::always_inline]] inline const void* spawn_key(const task_origin& origin) noexcept {
    constexpr std::uintptr_t spread = 0x5bd1e995;  // odd, and fits an immediate operand
    return reinterpret_cast<const void*>(origin.caller * spread + origin.inside);
}

/// The outcome of the last await of a task that runs on this thread.
void record_outcome(std::uint64_t task, trace::await_outcome outcome) noexcept;

// Those that return something return the ticks of the transition.

std::uint64_t record_spawn(task_state& task, const task_origin& origin, bool started) noexcept;
std::uint64_t record_suspend(task_state& task, const resumer& next) noexcept;
/// `flags`: trace::resume_flags beside those that are found here, and the outcome of the await.
void record_resume(task_state& task, std::uint64_t suspended_at, std::uint32_t flags) noexcept;
void record_cancel(task_state& task) noexcept;
std::uint64_t record_finish(task_state& task, const resumer& next) noexcept;
std::uint64_t record_transfer(task_state& awaiter, task_state& awaited) noexcept;
void record_finish_transfer(task_state& finished, task_state& resumed) noexcept;
/// Wherever it is called, and whether or not something records there.
void record_destroyed(task_state& task) noexcept;

inline std::uint32_t end_flags(const task_state& task) noexcept {
    return (task.flags & task_exception) != 0 ? trace::finish_exception : 0U;
}
/// Beside the flag of a destroyed task: its service shuts down on this thread.
inline std::uint32_t service_flag() noexcept {
    return here().ending_service ? trace::finish_with_service : 0U;
}

/// The outcome, in a resume record, of an await whose end await_threw() corrects. A fiber does not
/// call it.
inline std::uint32_t resume_outcome(const task_state& task) noexcept {
    return trace::make_outcome((task.flags & task_fiber) != 0 ? trace::await_outcome::unknown
                                                              : trace::await_outcome::value);
}

}  // namespace coroscope::detail

namespace coroscope::runtime::inline tasks {

/// Under overwrite_oldest: keep a live task's start beside the ring, and release it at the task's
/// end, when the start is written once more, with the task's attributes. Both do nothing in other
/// sessions.
void keep_in_task_table(const trace::task_slot& slot) noexcept;
void drop_from_task_table(std::uint64_t task, std::uint64_t carried) noexcept;
/// Changes the spawn site of a task in that table.
void name_in_task_table(std::uint64_t task, std::uint32_t site) noexcept;

}  // namespace coroscope::runtime::inline tasks
