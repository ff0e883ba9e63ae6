// SPDX-License-Identifier: Apache-2.0
#include "earlier_work.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <utility>

namespace coroscope::analysis::inline paths {
namespace {

// Deeper families of tasks are not followed.
constexpr std::size_t deepest_family = 64;

// An item that has begun for so long has sent something; a hand-over takes less.
constexpr std::int64_t begun_ns = 5'000;

// A scope with more waits is taken for a loop.
constexpr std::size_t most_waits = 64;

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

// A wait in a waker's work.
struct wait_in_work {
    std::uint32_t task = none;
    std::uint32_t scope = none;
    std::uint32_t await = none;
    std::int64_t from_ns = 0;
    bool is_timer = false;
};

// Returns the time of the outermost scope around a wait of a waker, if that was open at `began_ns`;
// else the whole life of the waker.
std::pair<std::int64_t, std::int64_t> time_around(const trace& loaded, const wait_in_work& of,
                                                  std::int64_t began_ns) {
    std::uint32_t scope = of.scope;
    while (scope < loaded.events.size() && loaded.events[scope].parent < loaded.events.size())
        scope = loaded.events[scope].parent;
    if (scope < loaded.events.size() && loaded.events[scope].start_ns <= began_ns)
        return {loaded.events[scope].start_ns, loaded.events[scope].end_ns};
    const task_info& life = loaded.tasks[of.task];
    return {life.spawn_ns.value_or(INT64_MIN), life.end_ns.value_or(INT64_MAX)};
}

// Returns whether a waker had begun its work when the wait for it began, at `began_ns`, and passed
// the place of its own wait only once in that work. A loop over items passes the places of its
// waits again and again.
bool is_passed_once(const trace& loaded, const wait_in_work& of, std::int64_t began_ns) {
    if (of.await >= loaded.awaits.size() || of.task >= loaded.tasks.size()) return false;
    const std::uint32_t site = loaded.awaits[of.await].site;
    const auto [from_ns, to_ns] = time_around(loaded, of, began_ns);
    if (site == none || from_ns > began_ns) return false;
    std::size_t seen = 0;
    std::size_t passed = 0;
    for (const std::uint32_t at : loaded.tasks[of.task].awaits) {
        const await_info& each = loaded.awaits[at];
        if (each.suspend_ns < from_ns) continue;
        if (each.suspend_ns > to_ns) break;
        const bool waited = each.resume_ns != each.suspend_ns;
        passed += waited && each.site == site ? 1U : 0U;
        if (++seen > most_waits || passed > 1) return false;
    }
    return passed == 1;
}

// Returns whether the waker had begun an item when it began to wait.
bool has_begun(const trace& loaded, const wait_in_work& of, const path_wait& wait) {
    const std::uint32_t item = item_of(loaded, of.scope, wait);
    if (item != none && (of.is_timer || of.from_ns - loaded.events[item].start_ns >= begun_ns))
        return true;
    const bool is_own_wait = wait.through == none;  // of the path's task
    return is_own_wait && is_passed_once(loaded, of, wait.start_ns);
}

// Finds the waits for wakers of a path before which their work is earlier work.
class waker_cuts {
public:
    waker_cuts(const trace& loaded, const critical_path& path) : loaded_(loaded), path_(path) {}

    [[nodiscard]] bool contains(std::uint32_t wait) const { return cuts_.contains(wait); }

    // Cuts the levels around a wait for something outside, up to one that had begun an item.
    void add(const path_segment& outside) {
        wait_in_work of{outside.task, outside.event, outside.await, outside.start_ns,
                        loaded_.awaits[outside.await].reason == wake_reason::timer};
        for (std::uint32_t at = outside.through; at < path_.waits.size();) {
            const path_wait& wait = path_.waits[at];
            if (is_of_request(loaded_, path_, of.task)) return;
            if (wait.edge == path_edge::wake) {
                if (has_begun(loaded_, of, wait)) return;
                cuts_.insert(at);
            }
            of = {wait.task, wait.event, wait.await, wait.start_ns, false};
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
