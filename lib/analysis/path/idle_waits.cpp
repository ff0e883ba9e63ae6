// SPDX-License-Identifier: Apache-2.0
#include "idle_waits.hpp"

#include <cstdint>

#include "../model/missing_facts.hpp"
#include "../model/task_slices.hpp"

namespace coroscope::analysis::inline paths {
namespace {

// Returns the thread that resumed the task at the end of a waiting segment; none if it is unknown.
std::uint32_t thread_after(const trace& loaded, const path_segment& segment) {
    if (segment.kind != path_kind::waiting || segment.await == none) return none;
    const await_info& await = loaded.awaits[segment.await];
    if (await.resume_ns != segment.end_ns || await.resume_overdue) return none;
    const auto run = latest_slice(loaded, await.task, segment.end_ns);
    if (!run || run->start_ns != segment.end_ns || run->thread >= loaded.threads.size())
        return none;
    return run->thread;
}

}  // namespace

idle_waits::idle_waits(const trace& loaded, std::span<const critical_path> paths)
    : loaded_(loaded), scopes_(loaded) {
    if (may_lack_work(loaded)) return;
    for (const critical_path& path : paths)
        for (const path_segment& each : path.segments) {
            const std::uint32_t thread = thread_after(loaded, each);
            if (thread == none) continue;
            scopes_.watch(none, thread);
            if (!tasks_) tasks_.emplace(loaded);
        }
    if (tasks_) scopes_.read();
}

std::int64_t idle_waits::of(const path_segment& segment) const {
    if (!tasks_) return 0;
    const std::uint32_t thread = thread_after(loaded_, segment);
    if (thread == none) return 0;
    std::int64_t idle_ns = 0;
    const auto add_outside_scopes = [&](std::int64_t from_ns, std::int64_t to_ns,
                                        std::uint32_t scope) {
        if (scope == none) idle_ns += loaded_.states.between(thread, from_ns, to_ns).blocked_ns;
    };
    tasks_->on(thread).for_each_piece(
        segment.start_ns, segment.end_ns,
        [&](std::int64_t from_ns, std::int64_t to_ns, std::uint32_t task) {
            if (task == none)
                scopes_.for_each_piece(none, thread, from_ns, to_ns, add_outside_scopes);
        });
    return idle_ns;
}

}  // namespace coroscope::analysis::inline paths
