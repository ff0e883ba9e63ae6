// SPDX-License-Identifier: Apache-2.0
#pragma once

// Charges many queued waits in one sweep over time. For long queues, to handle each wait alone
// would take steps in proportion to the product of waits and work.

#include <cstdint>
#include <span>
#include <vector>

#include "../executors/executor_threads.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline paths {

/// A wait in the queue of an executor. Places are numbers that the caller chooses.
struct queued_wait {
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;
    std::uint32_t executor = none;  ///< none: unknown; only the thread counts
    std::uint32_t thread = none;  ///< the thread that ran the task next; none: it did not run again
    std::uint32_t waiting = 0;    ///< the place that waits
};

/// The place of the work on a thread from a moment on.
struct work_change {
    std::int64_t time_ns = 0;
    std::uint32_t thread = none;
    std::uint32_t place = 0;
};

inline constexpr std::uint32_t idle_place = none - 1;     ///< no task and no scope
inline constexpr std::uint32_t unknown_place = none - 2;  ///< no thread is known

/// The time of the waits of one place that is charged to another place.
struct queue_charge {
    std::uint32_t waiting = 0;
    std::uint32_t place = 0;
    std::int64_t time_ns = 0;
    std::uint64_t count = 0;  ///< number of these waits
};

/// Charges the waits as path_blame::charged_ns describes. The charges of a waiting place add up to
/// the lengths of its waits exactly. A thread is idle until its first change.
[[nodiscard]] std::vector<queue_charge> charge_queues(const trace& loaded,
                                                      const executor_threads& threads,
                                                      std::span<const queued_wait> waits,
                                                      std::span<const work_change> work);

}  // namespace coroscope::analysis::inline paths
