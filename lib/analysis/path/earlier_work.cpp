// SPDX-License-Identifier: Apache-2.0
#include "earlier_work.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_set>

namespace coroscope::analysis::inline paths {
namespace {

// Deeper families of tasks are not followed.
constexpr std::size_t deepest_family = 64;

// An item that has begun for so long has sent something; a hand-over takes less.
constexpr std::int64_t begun_ns = 5'000;

bool is_wait_for_outside(const trace& loaded, const path_segment& segment) {
    if (segment.kind != path_kind::suspended && segment.kind != path_kind::waiting) return false;
    if (segment.await >= loaded.awaits.size()) return false;
    const await_info& await = loaded.awaits[segment.await];
    if (await.reason == wake_reason::timer) return true;
    // An operation that ended at once did not wait: the thread that ended it had no pause.
    const std::uint32_t thread = await.waker_thread;
    if (!await.wake_ns || thread >= loaded.threads.size()) return true;
    const state_times states = loaded.states.between(thread, segment.start_ns, segment.end_ns);
    return states.blocked_ns > 0 || states.unknown_ns > 0;
}

// Returns whether the waker, in whose scope a wait from `from_ns` on is, has begun an item.
bool has_begun(const trace& loaded, std::uint32_t scope, const path_wait& wait,
               std::int64_t from_ns, bool is_timer) {
    const std::uint32_t item = item_of(loaded, scope, wait);
    return item != none && (is_timer || from_ns - loaded.events[item].start_ns >= begun_ns);
}

// Finds the waits for wakers of a path before which their work is earlier work.
class waker_cuts {
public:
    waker_cuts(const trace& loaded, const critical_path& path) : loaded_(loaded), path_(path) {}

    [[nodiscard]] bool contains(std::uint32_t wait) const { return cuts_.contains(wait); }

    // Cuts the levels around a wait for something outside, up to one that had begun an item.
    void add(const path_segment& outside) {
        bool is_timer = loaded_.awaits[outside.await].reason == wake_reason::timer;
        std::uint32_t scope = outside.event;
        std::uint32_t task = outside.task;
        std::int64_t from_ns = outside.start_ns;
        for (std::uint32_t at = outside.through; at < path_.waits.size();) {
            const path_wait& wait = path_.waits[at];
            if (is_of_request(loaded_, path_, task)) return;
            if (wait.edge == path_edge::wake) {
                if (has_begun(loaded_, scope, wait, from_ns, is_timer)) return;
                cuts_.insert(at);
            }
            scope = wait.event;
            task = wait.task;
            from_ns = wait.start_ns;
            is_timer = false;
            at = wait.through;
        }
    }

private:
    const trace& loaded_;
    const critical_path& path_;
    std::unordered_set<std::uint32_t> cuts_;
};

}  // namespace

std::uint32_t item_of(const trace& loaded, std::uint32_t scope, const path_wait& wait) {
    std::uint32_t found = none;
    while (scope < loaded.events.size()) {
        const event& each = loaded.events[scope];
        if (each.start_ns <= wait.start_ns && each.end_ns >= wait.end_ns) break;
        found = scope;
        scope = each.parent;
    }
    return found;
}

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
    waker_cuts cuts(loaded, path);
    for (std::size_t at = path.segments.size(); at-- > 0;) {
        const path_segment& segment = path.segments[at];
        bool is_earlier = false;
        std::uint32_t outermost = none;
        for (std::uint32_t wait = segment.through; wait < path.waits.size();
             wait = path.waits[wait].through) {
            is_earlier = is_earlier || cuts.contains(wait);
            outermost = wait;
        }
        if (is_earlier) found[at] = outermost;
        if (is_wait_for_outside(loaded, segment)) cuts.add(segment);
    }
    return found;
}

}  // namespace coroscope::analysis::inline paths
