// SPDX-License-Identifier: Apache-2.0
#pragma once

// The work on the threads of an executor while a task was queued for it.

#include <cstdint>
#include <vector>

#include <coroscope/analysis/critical_path.hpp>

#include "../executors/executor_threads.hpp"
#include "scope_timelines.hpp"
#include "surroundings.hpp"

namespace coroscope::analysis::inline paths {

/// Returns the thread of the task's first slice from that time on, or none.
[[nodiscard]] std::uint32_t thread_after(const trace& loaded, std::uint32_t task,
                                         std::int64_t time_ns);

/// The executor for which a queued task waited, and the thread that ran it next.
struct queue_place {
    std::uint32_t executor = none;
    std::uint32_t thread = none;  ///< none: it did not run again
};

/// `of` must be a queued segment.
[[nodiscard]] queue_place queue_of(const trace& loaded, const path_segment& of);

class work_ahead {
public:
    /// `around` must outlive it.
    explicit work_ahead(surroundings& around)
        : around_(around), threads_(around.loaded()), scopes_(around.loaded()) {}

    /// Announces a segment for read().
    void watch(const path_segment& queued);

    /// Must be called once, after the last watch(). Reads every event.
    void read() { scopes_.read(); }

    /// Returns the work of each thread by task and scope, the largest charge first. The segment
    /// must be watched.
    [[nodiscard]] std::vector<path_blame> of(const path_segment& queued) const;

private:
    struct piece;
    [[nodiscard]] std::vector<serving_thread> threads_of(const path_segment& queued) const;
    [[nodiscard]] std::int64_t first_ahead(const path_segment& queued) const;
    [[nodiscard]] std::vector<piece> pieces_of(const path_segment& queued,
                                               std::vector<path_blame>& work) const;

    surroundings& around_;
    executor_threads threads_;
    scope_timelines scopes_;
};

}  // namespace coroscope::analysis::inline paths
