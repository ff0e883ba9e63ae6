// SPDX-License-Identifier: Apache-2.0
#include "waking_work.hpp"

#include <algorithm>
#include <cstdint>

#include "../model/result_waits.hpp"

namespace coroscope::analysis::inline paths {
namespace {

bool has_producer(const trace& loaded, const resource_wait& wait) {
    return is_for_result(loaded, wait) && has_releaser(wait);
}

// Returns the thread of a producer outside tasks; none for a task.
std::uint32_t thread_of_producer(const resource_wait& wait) {
    return wait.releaser_task == none ? wait.releaser_thread : none;
}

}  // namespace

waking_work::waking_work(const trace& loaded, std::span<const critical_path> paths)
    : loaded_(loaded),
      results_(loaded.resource_waits, loaded.resource_waits.empty() ? 0 : loaded.threads.size(),
               [&](const resource_wait& each) {
                   return has_producer(loaded, each) ? each.thread : none;
               }),
      scopes_(loaded) {
    for (const resource_wait& each : loaded.resource_waits)
        if (has_producer(loaded, each)) scopes_.watch(each.releaser_task, thread_of_producer(each));
    for (const critical_path& path : paths)
        for (const path_segment& each : path.segments)
            if (woken_by_thread(each)) scopes_.watch(none, loaded.awaits[each.await].waker_thread);
    scopes_.read();
}

bool waking_work::woken_by_thread(const path_segment& segment) const {
    if (segment.kind != path_kind::suspended || segment.await == none) return false;
    const await_info& await = loaded_.awaits[segment.await];
    return await.wake_ns == segment.end_ns && await.waker_thread < loaded_.threads.size() &&
           await.reason == wake_reason::unknown && await.waker == none;
}

charge waking_work::producer_of(const resource_wait& wait) const {
    const std::uint32_t thread = thread_of_producer(wait);
    const std::uint32_t scope =
        scopes_.innermost_at(wait.releaser_task, thread, *wait.released_ns - 1);
    return {wait.releaser_task, scope, thread, cause_role::woke, 0};
}

charge waking_work::of(const path_segment& segment, std::int64_t earliest_ns) const {
    if (!woken_by_thread(segment)) return {};
    const await_info& await = loaded_.awaits[segment.await];
    const std::uint32_t scope = scopes_.innermost_at(none, await.waker_thread, segment.end_ns - 1);
    if (scope == none || loaded_.events[scope].start_ns < earliest_ns) return {};
    const std::int64_t from_ns = std::max(loaded_.events[scope].start_ns, segment.start_ns);
    return {none, scope, await.waker_thread, cause_role::woke, segment.end_ns - from_ns};
}

}  // namespace coroscope::analysis::inline paths
