// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waits of unknown end during which the thread that resumed the task was idle. Such a task did not
// wait for other work of that thread.

#include <cstdint>
#include <optional>
#include <span>

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/model.hpp>

#include "scope_timelines.hpp"
#include "thread_occupants.hpp"

namespace coroscope::analysis::inline paths {

class idle_waits {
public:
    /// Finds the times for the waiting segments of these paths. `loaded` must outlive it.
    idle_waits(const trace& loaded, std::span<const critical_path> paths);

    /// Returns the time of a waiting segment in which the thread that resumed the task was blocked
    /// in the kernel, ran no task, and had no scope open outside tasks. 0 if records are lost.
    [[nodiscard]] std::int64_t of(const path_segment& segment) const;

private:
    const trace& loaded_;
    scope_timelines scopes_;
    std::optional<thread_occupants> tasks_;  // none: no segment needs them
};

}  // namespace coroscope::analysis::inline paths
