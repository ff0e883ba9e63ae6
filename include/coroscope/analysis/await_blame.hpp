// SPDX-License-Identifier: Apache-2.0
#pragma once

// Blame: the places that made other places wait.
//
// Each wait is divided among the work that delayed it. The suspended time of an await is charged to
// the holder of the resource for which the task waited, else to the awaited task, else to the work
// that woke the task. Its queued time is charged to the work on the threads of the executor, as
// path_blame::charged_ns describes. If no work is known, the time is charged to nothing, with the
// kind `unknown`. So the charges of an await add up to its wait, from the suspension to the resume,
// exactly. The time from a task's first wake to its first run is queued time at the task's own
// place. A wait of a thread for a lock or a resource is charged to the holder.
//
// model.hpp describes times and indices. Thread-safety: pure functions, safe on any thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The role of the work to which a wait is charged.
enum class blame_kind : std::uint8_t {
    unknown,
    ran,      ///< it ran on a thread of the executor, while the task was queued
    idle,     ///< no work: a thread of the executor ran nothing, while the task was queued
    held,     ///< it held the lock or the resource, or released it
    awaited,  ///< it was the awaited task, up to its end
    woke,     ///< it woke the task
    timer,    ///< no work: a timer woke the task
    device,   ///< no work: the task awaited a stream of a device
    outside,  ///< code outside tasks and scopes woke the task, such as the loop that polls sockets
};

/// "unknown", "ran on the executor", "no task on the executor", "held it", "awaited", "woke it", "a
/// timer", "a device", "outside tasks".
[[nodiscard]] COROSCOPE_API std::string_view name_of(blame_kind kind) noexcept;

/// A cell of the matrix: a waiting place, and a place that made it wait.
struct await_blame {
    /// The await; for a wait of a thread, its scope or task; for the start of a task, the task.
    std::string waiting;
    std::uint32_t waiting_site = none;  ///< index into trace::sites
    blame_kind kind = blame_kind::unknown;
    std::string label;          ///< the scope or task that made it wait; empty: none
    std::uint32_t site = none;  ///< index into trace::sites
    std::uint64_t count = 0;    ///< waits of which a part is charged to that place
    std::int64_t time_ns = 0;
};

/// Returns the matrix, the longest time first. Takes O(n log n) steps for n slices, scopes and
/// awaits.
[[nodiscard]] COROSCOPE_API std::vector<await_blame> blame_of_awaits(const trace& loaded);

}  // namespace coroscope::analysis
