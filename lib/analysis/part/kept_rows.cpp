// SPDX-License-Identifier: Apache-2.0
#include "kept_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

namespace coroscope::analysis::inline part {
namespace {

using numbers = std::vector<std::uint32_t>;

numbers numbers_of_flags(const std::vector<bool>& kept) {
    numbers found(kept.size(), none);
    std::uint32_t next = 0;
    for (std::size_t at = 0; at < kept.size(); ++at)
        if (kept[at]) found[at] = next++;
    return found;
}

numbers numbers_of_order(const numbers& order, std::size_t count) {
    numbers found(count, none);
    for (std::size_t at = 0; at < order.size(); ++at)
        found[order[at]] = static_cast<std::uint32_t>(at);
    return found;
}

void renumber(std::uint32_t& reference, const numbers& by) {
    reference = reference < by.size() ? by[reference] : none;
}

/// Returns the range of the kept rows among those of `range`. `kept_before` has for each index the
/// number of kept rows before it.
index_range kept_range(const index_range& range, const numbers& kept_before) {
    if (range.empty() || range.back() + std::size_t{1} >= kept_before.size()) return {};
    const std::uint32_t first = kept_before[range.front()];
    return {first, kept_before[range.back() + 1] - first};
}

numbers count_before(const numbers& renumbered) {
    numbers found(renumbered.size() + 1);
    for (std::size_t at = 0; at < renumbered.size(); ++at)
        found[at + 1] = found[at] + (renumbered[at] != none ? 1U : 0U);
    return found;
}

class removal {
public:
    removal(trace& from, const kept_rows& kept)
        : from_(from),
          kept_(kept),
          tasks_(numbers_of_flags(kept.tasks)),
          awaits_(numbers_of_flags(kept.awaits)),
          events_(numbers_of_order(kept.events, from.events.size())),
          activities_(numbers_of_order(kept.activities, from.device_activities.size())) {}

    void apply() {
        keep_events();
        keep_notes();
        keep_tasks();
        keep_slices();
        keep_awaits();
        keep_activities();
        renumber_threads_work();
        renumber_devices();
    }

private:
    void keep_events() {
        std::vector<event> left;
        left.reserve(kept_.events.size());
        for (const std::uint32_t at : kept_.events) {
            event& moved = left.emplace_back(from_.events[at]);
            renumber(moved.parent, events_);
            renumber(moved.task, tasks_);
        }
        from_.events = std::move(left);
    }

    void keep_notes() {
        std::erase_if(from_.notes, [this](event_note& each) {
            renumber(each.event, events_);
            return each.event == none;
        });
        std::ranges::stable_sort(from_.notes, {}, &event_note::event);
    }

    void keep_tasks() {
        const numbers slices = count_before(numbers_of_flags(kept_.slices));
        const numbers awaits = count_before(awaits_);
        packed_list<task_info> left;
        for (std::uint32_t at = 0; at < kept_.tasks.size(); ++at) {
            if (!kept_.tasks[at]) continue;
            task_info moved = std::as_const(from_).tasks[at];
            renumber(moved.parent, tasks_);
            renumber(moved.awaiter, tasks_);
            moved.slices = kept_range(moved.slices, slices);
            moved.awaits = kept_range(moved.awaits, awaits);
            left.append(moved);
        }
        from_.tasks = std::move(left);
    }

    void keep_slices() {
        packed_list<slice> left;
        for (std::uint32_t at = 0; at < kept_.slices.size(); ++at) {
            if (!kept_.slices[at]) continue;
            slice moved = std::as_const(from_).slices[at];
            renumber(moved.task, tasks_);
            left.append(moved);
        }
        from_.slices = std::move(left);
    }

    void keep_awaits() {
        packed_list<await_info> left;
        for (std::uint32_t at = 0; at < kept_.awaits.size(); ++at) {
            if (!kept_.awaits[at]) continue;
            await_info moved = std::as_const(from_).awaits[at];
            renumber(moved.task, tasks_);
            renumber(moved.awaited, tasks_);
            renumber(moved.waker, tasks_);
            renumber(moved.scope, events_);
            left.append(moved);
        }
        from_.awaits = std::move(left);
    }

    void renumber_work(thread_work& work) {
        renumber(work.task, tasks_);
        renumber(work.scope, events_);
    }

    void renumber_threads_work() {
        for (stream_info& each : from_.streams) renumber(each.task, tasks_);
        for (blocking_call& each : from_.blocking_calls) {
            renumber(each.task, tasks_);
            renumber(each.scope, events_);
        }
        for (lock_wait& each : from_.lock_waits)
            for (thread_work* work : {&each.waiter, &each.holder, &each.releaser})
                renumber_work(*work);
        for (resource_wait& each : from_.resource_waits) {
            for (std::uint32_t* task : {&each.task, &each.holder_task, &each.releaser_task})
                renumber(*task, tasks_);
            renumber(each.holder_scope, events_);
        }
        for (request_info& each : from_.requests) {
            renumber(each.task, tasks_);
            renumber(each.event, events_);
        }
        for (value_info& each : from_.values) {
            renumber(each.task, tasks_);
            renumber(each.scope, events_);
        }
    }

    void keep_activities() {
        std::vector<device_activity> left;
        left.reserve(kept_.activities.size());
        for (const std::uint32_t at : kept_.activities) {
            device_activity& moved = left.emplace_back(from_.device_activities[at]);
            renumber(moved.task, tasks_);
            renumber(moved.event, events_);
            renumber(moved.call, activities_);
        }
        from_.device_activities = std::move(left);
        for (std::uint32_t& each : from_.stream_order) renumber(each, activities_);
    }

    void renumber_devices() {
        numbers positions = from_.stream_order;
        std::uint32_t next = 0;
        for (std::uint32_t& each : positions) each = each == none ? none : next++;
        std::erase(from_.stream_order, none);
        for (device_wait& each : from_.device_waits) {
            renumber(each.task, tasks_);
            renumber(each.await, awaits_);
            renumber(each.call, activities_);
            each.activities = kept_range(each.activities, count_of(positions));
        }
        std::ranges::stable_sort(from_.device_waits, {}, [](const device_wait& each) {
            return std::tuple(each.await, each.context, each.stream);
        });
        renumber_ranges(positions);
    }

    void renumber_ranges(const numbers& positions) {
        for (std::uint32_t& each : from_.range_work) renumber(each, positions);
        const numbers before = count_before(from_.range_work);
        std::erase(from_.range_work, none);
        for (device_range& each : from_.device_ranges) {
            renumber(each.task, tasks_);
            renumber(each.event, events_);
            each.work = kept_range(each.work, before);
        }
    }

    const numbers& count_of(const numbers& positions) {
        if (positions_before_.empty()) positions_before_ = count_before(positions);
        return positions_before_;
    }

    trace& from_;
    const kept_rows& kept_;
    numbers tasks_, awaits_, events_, activities_;  // the new numbers, by the old ones
    numbers positions_before_;
};

}  // namespace

kept_rows::kept_rows(const trace& of)
    : tasks(of.tasks.size()), slices(of.slices.size()), awaits(of.awaits.size()) {}

void remove_others(trace& from, const kept_rows& kept) { removal(from, kept).apply(); }

}  // namespace coroscope::analysis::inline part
