// SPDX-License-Identifier: Apache-2.0
#include "wait_times.hpp"

#include <algorithm>

#include "../model/interruptions.hpp"

namespace coroscope::analysis::inline compare {

bool wait_times::is_explained_by_task(const await_info& await) const {
    if (await.awaited >= loaded_.tasks.size()) return false;
    const task_info& task = loaded_.tasks[await.awaited];
    if (task.slices.empty()) return false;
    return task.awaits.empty() ||
           loaded_.awaits[task.awaits.front()].suspend_ns >= await.suspend_ns;
}

optional_ns wait_times::finished(const await_info& await) const {
    const std::int64_t end_ns = await.wake_ns.value_or(await.resume_ns.value_or(await.suspend_ns));
    const std::int64_t length_ns = std::max<std::int64_t>(end_ns - await.suspend_ns, 0);
    if (is_explained_by_task(await)) {
        if (states_[await.awaited] != progress::known) return std::nullopt;
        return std::min(waits_ns_[await.awaited], length_ns);
    }
    return await.wake_ns ? optional_ns(length_ns) : std::nullopt;
}

void wait_times::finish_task(std::uint32_t task) {
    states_[task] = progress::known;
    for (const std::uint32_t at : loaded_.tasks[task].awaits) {
        const await_info& each = loaded_.awaits[at];
        if (is_interruption(each)) continue;
        const optional_ns wait_ns = finished(each);
        if (!wait_ns) states_[task] = progress::unknown;
        add_to(waits_ns_[task], wait_ns.value_or(0));
    }
}

/// Chains of awaited tasks may be long, so this is no recursion. In a cycle, which only damage can
/// cause, a task is unknown.
void wait_times::take_task(std::uint32_t first) {
    std::vector<std::uint32_t> stack{first};
    while (!stack.empty()) {
        const std::uint32_t task = stack.back();
        if (states_[task] == progress::untouched) {
            states_[task] = progress::begun;
            for (const std::uint32_t at : loaded_.tasks[task].awaits) {
                const await_info& each = loaded_.awaits[at];
                if (is_explained_by_task(each) && states_[each.awaited] == progress::untouched)
                    stack.push_back(each.awaited);
            }
            continue;
        }
        if (states_[task] == progress::begun) finish_task(task);
        stack.pop_back();
    }
}

optional_ns wait_times::of(const await_info& await) {
    if (is_explained_by_task(await) && states_[await.awaited] == progress::untouched)
        take_task(await.awaited);
    return finished(await);
}

}  // namespace coroscope::analysis::inline compare
