// SPDX-License-Identifier: Apache-2.0
#include "waking_work.hpp"

#include <algorithm>
#include <cstdint>

namespace coroscope::analysis::inline paths {

waking_work::waking_work(const trace& loaded, const std::vector<critical_path>& paths)
    : loaded_(loaded), scopes_(loaded) {
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

charge waking_work::of(const path_segment& segment) const {
    if (!woken_by_thread(segment)) return {};
    const await_info& await = loaded_.awaits[segment.await];
    const std::uint32_t scope = scopes_.innermost_at(none, await.waker_thread, segment.end_ns - 1);
    if (scope == none || loaded_.events[scope].start_ns < await.suspend_ns) return {};
    const std::int64_t from_ns = std::max(loaded_.events[scope].start_ns, segment.start_ns);
    return {none, scope, await.waker_thread, cause_role::woke, segment.end_ns - from_ns};
}

}  // namespace coroscope::analysis::inline paths
