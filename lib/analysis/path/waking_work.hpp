// SPDX-License-Identifier: Apache-2.0
#pragma once

// The work of a thread outside tasks that woke a task, and the work that made the results for which
// threads waited.

#include <algorithm>
#include <cstdint>
#include <span>

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/model.hpp>

#include "../model/thread_waits.hpp"
#include "charged_work.hpp"
#include "scope_timelines.hpp"

namespace coroscope::analysis::inline paths {

class waking_work {
public:
    /// Finds the work for the segments of these paths. `loaded` must outlive it.
    waking_work(const trace& loaded, std::span<const critical_path> paths);

    /// If a thread outside tasks woke the task of a suspended segment at its end, returns the
    /// innermost scope that was open there at the wake, else a charge without a scope. A scope that
    /// began before `earliest_ns`, the begin of the path, does not count: the loop of an executor
    /// is open all the time. Work that began before the suspension may be that for which the task
    /// waited.
    [[nodiscard]] charge of(const path_segment& segment, std::int64_t earliest_ns) const;

    /// Calls visit(charge) for each wait of the segment's thread for the result of a future, if the
    /// producer is known. The time is that of the producer's scope, until the result was made.
    template <class Visit>
    void for_each_producer(const path_segment& segment, Visit visit) const {
        results_.for_each_in(
            segment.thread, segment.start_ns, segment.end_ns,
            [&](const resource_wait& wait, std::int64_t from_ns, std::int64_t to_ns) {
                charge made = producer_of(wait);
                if (made.scope != none)
                    from_ns = std::max(from_ns, loaded_.events[made.scope].start_ns);
                made.time_ns = std::min(to_ns, *wait.released_ns) - from_ns;
                if (made.time_ns > 0 && (made.task != none || made.scope != none)) visit(made);
            });
    }

private:
    [[nodiscard]] bool woken_by_thread(const path_segment& segment) const;

    [[nodiscard]] charge producer_of(const resource_wait& wait) const;

    const trace& loaded_;
    items_of_threads<resource_wait> results_;  // those whose producer is known
    scope_timelines scopes_;
};

}  // namespace coroscope::analysis::inline paths
