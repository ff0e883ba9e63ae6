// SPDX-License-Identifier: Apache-2.0
#include "waking_work.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../model/result_waits.hpp"

namespace coroscope::analysis::inline paths {
namespace {

// If it is unknown whether a thread was blocked, it was not for so long: a hand-over takes less.
constexpr std::int64_t hand_over_ns = 5'000;

bool has_producer(const trace& loaded, const resource_wait& wait) {
    return is_for_result(loaded, wait) && has_releaser(wait);
}

// Returns the thread of a producer outside tasks; none for a task.
std::uint32_t thread_of_producer(const resource_wait& wait) {
    return wait.releaser_task == none ? wait.releaser_thread : none;
}

// A wake that is dated at the resume: the waker called the coroutine.
bool is_resumed_by_waker(const await_info& await) { return await.wake_ns == await.resume_ns; }

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
    std::vector<bool> resumers(loaded.threads.size());
    for (const critical_path& path : paths)
        for (const path_segment& each : path.segments) {
            if (!woken_by_thread(each)) continue;
            const await_info& await = loaded.awaits[each.await];
            scopes_.watch(none, await.waker_thread);
            if (is_resumed_by_waker(await)) resumers[await.waker_thread] = true;
        }
    scopes_.read();
    if (std::ranges::find(resumers, true) != resumers.end()) resumers_.emplace(loaded, resumers);
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
    const std::uint32_t scope = waking_scope(await, earliest_ns);
    if (scope == none) return {};
    const std::int64_t from_ns = std::max(loaded_.events[scope].start_ns, segment.start_ns);
    return {none, scope, await.waker_thread, cause_role::woke, segment.end_ns - from_ns};
}

std::uint32_t waking_work::waking_scope(const await_info& await, std::int64_t earliest_ns) const {
    const auto is_work = [&](std::uint32_t scope) {
        return scope != none && loaded_.events[scope].start_ns >= earliest_ns;
    };
    const auto open = scopes_.piece_before(none, await.waker_thread, *await.wake_ns);
    if (is_work(open.index)) return open.index;
    const auto before = scopes_.piece_before(none, await.waker_thread, open.from_ns);
    const bool counts = is_resumed_by_waker(await) && is_work(before.index) &&
                        loaded_.events[before.index].end_ns <= open.from_ns &&
                        went_straight_on(await.waker_thread, open.from_ns, *await.wake_ns);
    return counts ? before.index : none;
}

bool waking_work::went_straight_on(std::uint32_t thread, std::int64_t from_ns,
                                   std::int64_t to_ns) const {
    const auto occupant = resumers_->on(thread).piece_before(to_ns);
    if (occupant.index != none || occupant.from_ns > from_ns) return false;
    const state_times states = loaded_.states.between(thread, from_ns, to_ns);
    return states.blocked_ns == 0 && (states.unknown_ns == 0 || to_ns - from_ns <= hand_over_ns);
}

}  // namespace coroscope::analysis::inline paths
