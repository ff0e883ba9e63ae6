// SPDX-License-Identifier: Apache-2.0
#pragma once

// Appends events in the model's order and finds the parent of each.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline scopes {

class event_places {
public:
    explicit event_places(trace& loaded);

    /// Adds an event, which the caller fills in place and links when it has its times and its
    /// thread. Events must come in the model's order, and loaded.events must have room for all of
    /// them.
    event& add() {
        ++count_;
        return loaded_.events.emplace_back();
    }
    [[nodiscard]] std::uint32_t count() const { return count_; }

    /// Finds the parent of the newest event. `group` is the task whose events may enclose this one;
    /// none: those of its thread outside tasks. `encloses`: whether the event may be a parent.
    void link(event& added, std::uint32_t group, bool encloses) {
        if (group != none && !loaded_.awaits.empty()) settle_before(group, added.start_ns);
        std::uint32_t& top = innermost_[group != none ? group : tasks_ + added.thread];
        if (!encloses) [[unlikely]]
            return link_beside(added, top);
        while (top != none) {
            event& above = loaded_.events[top];
            if (added.start_ns < above.end_ns && added.end_ns <= above.end_ns) {
                const std::int64_t self_ns = above.self_running_ns - added.self_running_ns;
                above.self_running_ns = self_ns > 0 ? self_ns : 0;
                break;
            }
            if (added.start_ns < above.end_ns) [[unlikely]]
                overlap(above, added);
            top = above.parent;
        }
        added.parent = top;
        top = count_ - 1;
    }

    /// Must be called after the last event.
    void finish();

private:
    // The first await of a task whose scope was not looked for yet.
    struct next_await {
        std::int64_t suspend_ns = std::numeric_limits<std::int64_t>::max();
        std::uint32_t index = 0;
    };

    void settle_before(std::uint32_t task, std::int64_t start_ns) {
        if (next_awaits_.empty()) find_first_awaits();
        if (next_awaits_[task].suspend_ns < start_ns) [[unlikely]]
            settle_awaits(task, start_ns);
    }
    void find_first_awaits();
    void settle_awaits(std::uint32_t task, std::int64_t start_ns);
    [[nodiscard]] next_await await_at(std::uint32_t index, std::uint32_t task) const;
    void link_beside(event& added, std::uint32_t innermost) const;
    static void overlap(event& earlier, event& later);

    trace& loaded_;
    std::uint32_t tasks_;
    std::uint32_t count_ = 0;  // number of loaded.events
    std::vector<std::uint32_t>
        innermost_;  // by group: heads of lists that are linked by event::parent
    std::vector<next_await> next_awaits_;  // by task; empty before the first event in a task
    std::vector<std::uint32_t> scopes_;    // by await; empty: none
};

}  // namespace coroscope::analysis::inline scopes
