// SPDX-License-Identifier: Apache-2.0
#pragma once

// The work of a thread outside tasks that woke a task.

#include <vector>

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/model.hpp>

#include "charged_work.hpp"
#include "scope_timelines.hpp"

namespace coroscope::analysis::inline paths {

class waking_work {
public:
    /// Finds the work for the segments of these paths. `loaded` must outlive it.
    waking_work(const trace& loaded, const std::vector<critical_path>& paths);

    /// If a thread outside tasks woke the task of a suspended segment at its end, returns the
    /// innermost scope that was open there at the wake, else a charge without a scope. A scope that
    /// began before the suspension does not count, because the loop of an executor is open all the
    /// time.
    [[nodiscard]] charge of(const path_segment& segment) const;

private:
    [[nodiscard]] bool woken_by_thread(const path_segment& segment) const;

    const trace& loaded_;
    scope_timelines scopes_;
};

}  // namespace coroscope::analysis::inline paths
