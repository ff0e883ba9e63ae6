// SPDX-License-Identifier: Apache-2.0
#include "event_place.hpp"

#include <algorithm>
#include <numeric>

namespace coroscope::analysis::loading {

event_places::event_places(trace& loaded)
    : loaded_(loaded),
      tasks_(static_cast<std::uint32_t>(loaded.tasks.size())),
      innermost_(loaded.tasks.size() + loaded.threads.size(), none),
      awaits_(loaded.awaits.size()) {
    std::iota(awaits_.begin(), awaits_.end(), 0U);
    std::sort(awaits_.begin(), awaits_.end(), [&loaded](std::uint32_t left, std::uint32_t right) {
        return loaded.awaits[left].suspend_ns < loaded.awaits[right].suspend_ns;
    });
    if (!awaits_.empty()) next_suspend_ns_ = loaded.awaits[awaits_.front()].suspend_ns;
}

// Gives the awaits that began before `start_ns` the innermost scope that was open around them.
void event_places::settle_awaits(std::int64_t start_ns) {
    for (; next_await_ < awaits_.size(); ++next_await_) {
        await_info& await = loaded_.awaits[awaits_[next_await_]];
        next_suspend_ns_ = await.suspend_ns;
        if (await.suspend_ns >= start_ns) return;
        const std::int64_t resume_ns = await.resume_ns.value_or(await.suspend_ns);
        // What is over encloses nothing that is still to come: it is passed once.
        std::uint32_t& top = innermost_[await.task];
        while (top != none && loaded_.events[top].end_ns <= await.suspend_ns)
            top = loaded_.events[top].parent;
        std::uint32_t scope = top;
        while (scope != none && loaded_.events[scope].end_ns < resume_ns)
            scope = loaded_.events[scope].parent;
        await.scope = scope;
    }
    next_suspend_ns_ = std::numeric_limits<std::int64_t>::max();
}

// What may be no parent ends nobody's time as one, however it overlaps.
void event_places::link_beside(event& added, std::uint32_t innermost) const {
    while (innermost != none) {
        const event& above = loaded_.events[innermost];
        if (added.start_ns < above.end_ns && added.end_ns <= above.end_ns) break;
        innermost = above.parent;
    }
    added.parent = innermost;
}

// Ranges begun and ended by hand may overlap without nesting. Such a one has a total only, as an
// asynchronous event has; or else two of them would count the time that they share.
void event_places::overlap(event& earlier, event& later) {
    event& by_hand = (earlier.flags & event_explicit) != 0 ? earlier : later;
    if ((by_hand.flags & event_explicit) == 0) return;
    by_hand.flags |= event_async;
    by_hand.self_running_ns = 0;
}

}  // namespace coroscope::analysis::loading
