// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sum behind running_time_total_ns(), for scopes that are events and for those that are not.

#include <algorithm>
#include <cstdint>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/saturated.hpp>

namespace coroscope::analysis::inline answers {

/// The self times of scopes.
struct self_times {
    std::int64_t all_ns = 0;
    std::int64_t outside_tasks_ns = 0;

    void add(std::int64_t self_ns, bool in_task) {
        add_to(all_ns, self_ns);
        if (!in_task) add_to(outside_tasks_ns, self_ns);
    }
    void add(const self_times& added) {
        add_to(all_ns, added.all_ns);
        add_to(outside_tasks_ns, added.outside_tasks_ns);
    }
};

/// Never less than the self times of all scopes. These can be more than the tasks ran: a scope in a
/// task's context that was installed by hand runs when the task does not.
inline std::int64_t running_total_ns(const trace& loaded, const self_times& scopes) {
    std::int64_t sum_ns = scopes.outside_tasks_ns;
    for (const task_info& task : loaded.tasks) add_to(sum_ns, task.time.running_ns);
    return std::max(sum_ns, scopes.all_ns);
}

}  // namespace coroscope::analysis::inline answers
