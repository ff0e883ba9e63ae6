// SPDX-License-Identifier: Apache-2.0
#include "event_place.hpp"

#include <utility>

namespace coroscope::analysis::inline scopes {

event_places::event_places(trace& loaded)
    : loaded_(loaded),
      tasks_(static_cast<std::uint32_t>(loaded.tasks.size())),
      innermost_(loaded.tasks.size() + loaded.threads.size(), none) {}

void event_places::find_first_awaits() {
    next_awaits_.resize(tasks_);
    for (std::uint32_t task = 0; task < tasks_; ++task) {
        const index_range own = std::as_const(loaded_).tasks[task].awaits;
        if (!own.empty()) next_awaits_[task] = await_at(own.front(), task);
    }
}

event_places::next_await event_places::await_at(std::uint32_t index, std::uint32_t task) const {
    const packed_list<await_info>& awaits = loaded_.awaits;
    if (index >= awaits.size() || awaits[index].task != task) return {};
    return {awaits[index].suspend_ns, index};
}

// Gives the awaits of the task that began before `start_ns` the innermost scope that was open
// around them.
void event_places::settle_awaits(std::uint32_t task, std::int64_t start_ns) {
    next_await& next = next_awaits_[task];
    for (; next.suspend_ns < start_ns; next = await_at(next.index + 1, task)) {
        const std::int64_t suspend_ns = next.suspend_ns;
        const std::int64_t resume_ns =
            std::as_const(loaded_).awaits[next.index].resume_ns.value_or(suspend_ns);
        // A scope that has ended encloses no later scope, so each is passed once.
        std::uint32_t& top = innermost_[task];
        while (top != none && loaded_.events[top].end_ns <= suspend_ns)
            top = loaded_.events[top].parent;
        std::uint32_t scope = top;
        while (scope != none && loaded_.events[scope].end_ns < resume_ns)
            scope = loaded_.events[scope].parent;
        if (scope == none) continue;
        if (scopes_.empty()) scopes_.resize(loaded_.awaits.size(), none);
        scopes_[next.index] = scope;
    }
}

void event_places::finish() {
    for (std::uint32_t task = 0; task < next_awaits_.size(); ++task)
        settle_awaits(task, std::numeric_limits<std::int64_t>::max());
    if (scopes_.empty()) return;
    loaded_.awaits.update([this](await_info& await, std::size_t at) {
        await.scope = scopes_[at];
        return await.scope != none;
    });
}

// Sets the parent of an event that must not be a parent itself. Such an event takes no time from
// other events, even if it overlaps them.
void event_places::link_beside(event& added, std::uint32_t innermost) const {
    while (innermost != none) {
        const event& above = loaded_.events[innermost];
        if (added.start_ns < above.end_ns && added.end_ns <= above.end_ns) break;
        innermost = above.parent;
    }
    added.parent = innermost;
}

// A range begun and ended by hand may overlap another event without nesting. Then it gets only a
// total, as an asynchronous event does: otherwise both would count the time that they share.
void event_places::overlap(event& earlier, event& later) {
    event& by_hand = (earlier.flags & event_explicit) != 0 ? earlier : later;
    if ((by_hand.flags & event_explicit) == 0) return;
    by_hand.flags |= event_async;
    by_hand.self_running_ns = 0;
}

}  // namespace coroscope::analysis::inline scopes
