// SPDX-License-Identifier: Apache-2.0
#include "earlier_work.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>

#include "../model/task_slices.hpp"

namespace coroscope::analysis::inline paths {
namespace {

// Deeper families of tasks are not followed.
constexpr std::size_t deepest_family = 64;

// An item that has begun for so long has sent something; a hand-over takes less.
constexpr std::int64_t begun_ns = 5'000;

// Returns whether the operation ended at once: the thread that ended it is that of the waiting
// task, and had no pause.
bool ended_at_once(const trace& loaded, const path_segment& segment, const await_info& await) {
    const std::uint32_t thread = await.waker_thread;
    if (!await.wake_ns || thread >= loaded.threads.size() || segment.task >= loaded.tasks.size())
        return false;
    if (segment.length_ns() > begun_ns) {
        const std::optional<slice> last = latest_slice(loaded, segment.task, await.suspend_ns);
        if (!last || last->thread != thread) return false;
    }
    const state_times states = loaded.states.between(thread, segment.start_ns, segment.end_ns);
    return states.blocked_ns == 0 && states.unknown_ns == 0;
}

// A task that is not the path's own may also come from outside, or have been started from there.
bool is_wait_for_outside(const trace& loaded, const path_segment& segment) {
    if (segment.kind == path_kind::unknown || segment.kind == path_kind::not_started)
        return segment.through != none;
    if (segment.kind != path_kind::suspended && segment.kind != path_kind::waiting) return false;
    if (segment.await >= loaded.awaits.size()) return false;
    const await_info& await = loaded.awaits[segment.await];
    return await.reason == wake_reason::timer || !ended_at_once(loaded, segment, await);
}

bool is_for_timer(const trace& loaded, std::uint32_t await) {
    return await < loaded.awaits.size() && loaded.awaits[await].reason == wake_reason::timer;
}

// Returns whether the work of the segment, the first one of a wait that began at `from_ns`, had
// begun before that moment.
bool is_older(const trace& loaded, const path_segment& first, std::int64_t from_ns) {
    if (first.await < loaded.awaits.size())
        return loaded.awaits[first.await].suspend_ns < from_ns - begun_ns;
    if (first.task >= loaded.tasks.size()) return false;
    const std::optional<slice> run = latest_slice(loaded, first.task, first.start_ns);
    return run && run->start_ns < from_ns - begun_ns;
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
        bool is_timer = is_for_timer(loaded_, outside.await);
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

    // The waits around `wait`. Its waiter began it when the waker was at work already: the work of
    // the waiter before did not start the waker's.
    void add_around(std::uint32_t wait) {
        std::uint32_t task = path_.waits[wait].task;
        for (std::uint32_t at = path_.waits[wait].through; at < path_.waits.size();
             at = path_.waits[at].through) {
            if (is_of_request(loaded_, path_, task)) return;
            if (path_.waits[at].edge == path_edge::wake) cuts_.insert(at);
            task = path_.waits[at].task;
        }
    }

private:
    const trace& loaded_;
    const critical_path& path_;
    std::unordered_set<std::uint32_t> cuts_;
};

// Returns the first segment of each wait of the path.
std::vector<std::size_t> first_segments(const critical_path& path) {
    std::vector<std::size_t> found(path.waits.size(), path.segments.size());
    for (std::size_t at = path.segments.size(); at-- > 0;)
        for (std::uint32_t wait = path.segments[at].through; wait < path.waits.size();
             wait = path.waits[wait].through)
            found[wait] = at;
    return found;
}

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
    const std::vector<std::size_t> firsts = first_segments(path);
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
        for (std::uint32_t wait = segment.through; wait < path.waits.size();
             wait = path.waits[wait].through)
            if (firsts[wait] == at && path.waits[wait].edge == path_edge::wake &&
                is_older(loaded, segment, path.waits[wait].start_ns))
                cuts.add_around(wait);
    }
    return found;
}

}  // namespace coroscope::analysis::inline paths
