// SPDX-License-Identifier: Apache-2.0
#pragma once

// Appends events in the model's order and finds the parent of each.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::loading {

class event_places {
public:
    explicit event_places(trace& loaded);

    /// A new event, to be filled in where it stands, and to be linked when it has its times and its
    /// thread. Events come in the model's order, and loaded.events has room for all of them.
    event& add() {
        ++count_;
        return loaded_.events.emplace_back();
    }
    [[nodiscard]] std::uint32_t count() const { return count_; }

    /// Finds the parent of the newest event. `group` is the task whose events may enclose this one; none: those of its thread outside tasks.
    /// `encloses`: whether the event may be a parent.
    void link(event& added, std::uint32_t group, bool encloses) {
        if (next_suspend_ns_ < added.start_ns) [[unlikely]]
            settle_awaits(added.start_ns);
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

    /// To be called after the last event.
    void finish() { settle_awaits(std::numeric_limits<std::int64_t>::max()); }

private:
    void settle_awaits(std::int64_t start_ns);
    void link_beside(event& added, std::uint32_t innermost) const;
    static void overlap(event& earlier, event& later);

    trace& loaded_;
    std::uint32_t tasks_;
    std::uint32_t count_ = 0;  // of loaded.events
    std::vector<std::uint32_t>
        innermost_;  // by group: heads of lists that are linked by event::parent
    std::vector<std::uint32_t> awaits_;  // by suspension
    std::size_t next_await_ = 0;
    std::int64_t next_suspend_ns_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace coroscope::analysis::loading
