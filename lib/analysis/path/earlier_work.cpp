// SPDX-License-Identifier: Apache-2.0
#include "earlier_work.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_set>

namespace coroscope::analysis::inline paths {
namespace {

// Deeper families of tasks are not followed.
constexpr std::size_t deepest_family = 64;

bool is_wait_for_outside(const trace& loaded, const path_segment& segment) {
    if (segment.kind != path_kind::suspended && segment.kind != path_kind::waiting) return false;
    if (segment.await >= loaded.awaits.size()) return false;
    const await_info& await = loaded.awaits[segment.await];
    if (await.reason == wake_reason::timer) return false;
    // An operation that ended at once did not wait: the thread that ended it had no pause.
    const std::uint32_t thread = await.waker_thread;
    if (!await.wake_ns || thread >= loaded.threads.size()) return true;
    const state_times states = loaded.states.between(thread, segment.start_ns, segment.end_ns);
    return states.blocked_ns > 0 || states.unknown_ns > 0;
}

}  // namespace

bool is_of_request(const trace& loaded, const critical_path& path, std::uint32_t task) {
    for (std::size_t depth = 0; depth < deepest_family && task < loaded.tasks.size(); ++depth) {
        if (task == path.task) return true;
        const task_info& of = loaded.tasks[task];
        if (of.spawn_ns && *of.spawn_ns < path.start_ns) return false;
        task = of.parent;
    }
    return false;
}

std::vector<std::uint32_t> earlier_work(const trace& loaded, const critical_path& path) {
    std::vector<std::uint32_t> found(path.segments.size(), none);
    std::unordered_set<std::uint32_t> ended;  // waits for wakers, before which work is earlier work
    for (std::size_t at = path.segments.size(); at-- > 0;) {
        const path_segment& segment = path.segments[at];
        bool is_earlier = false;
        std::uint32_t outermost = none;
        std::uint32_t for_waker = none;
        std::uint32_t task = segment.task;
        for (std::uint32_t wait = segment.through; wait < path.waits.size();
             wait = path.waits[wait].through) {
            is_earlier = is_earlier || ended.contains(wait);
            const bool is_waker =
                path.waits[wait].edge == path_edge::wake && !is_of_request(loaded, path, task);
            if (is_waker && for_waker == none) for_waker = wait;
            task = path.waits[wait].task;
            outermost = wait;
        }
        if (is_earlier) found[at] = outermost;
        if (for_waker != none && is_wait_for_outside(loaded, segment)) ended.insert(for_waker);
    }
    return found;
}

}  // namespace coroscope::analysis::inline paths
