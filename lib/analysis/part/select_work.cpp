// SPDX-License-Identifier: Apache-2.0
#include "select_work.hpp"

#include <cstddef>

#include "kept_rows.hpp"
#include "matching_work.hpp"

namespace coroscope::analysis::inline part {
namespace {

void keep_work(const trace& whole, const selected_work& selected, kept_rows& kept) {
    for (std::uint32_t at = 0; at < kept.tasks.size(); ++at) kept.tasks[at] = selected.has_task(at);
    for (std::uint32_t at = 0; at < whole.events.size(); ++at) {
        if (!selected.has_event(at)) continue;
        kept.events.push_back(at);
        kept.keep_task(whole.events[at].task);
    }
    for (std::uint32_t at = 0; at < kept.awaits.size(); ++at) {
        const await_info await = whole.awaits[at];
        kept.awaits[at] = selected.has(await.task, none, await.suspend_ns);
        if (kept.awaits[at]) kept.keep_task(await.task);
    }
    for (std::uint32_t at = 0; at < kept.slices.size(); ++at) {
        const std::uint32_t task = whole.slices[at].task;
        kept.slices[at] = task < kept.tasks.size() && kept.tasks[task];
    }
}

void keep_activities(const trace& whole, const selected_work& selected, kept_rows& kept) {
    const std::vector<device_activity>& all = whole.device_activities;
    for (std::uint32_t at = 0; at < all.size(); ++at) {
        const device_activity& each = all[at];
        const device_activity& asked = each.call < all.size() ? all[each.call] : each;
        if (selected.has(asked.task, asked.thread, asked.start_ns)) kept.activities.push_back(at);
    }
}

template <class Row, class Selects>
void keep_rows(std::vector<Row>& rows, const Selects& selects) {
    std::erase_if(rows, [&](const Row& each) { return !selects(each); });
}

void keep_requests(trace& whole, const selected_work& selected) {
    keep_rows(whole.requests, [&](const request_info& each) {
        return each.event < whole.events.size() ? selected.has_event(each.event)
                                                : selected.has_task(each.task);
    });
}

void keep_streams(trace& whole, const selected_work& selected) {
    std::vector<stream_info> streams;
    std::vector<stream_item> items;
    for (stream_info each : whole.streams) {
        if (!selected.has(each.task, each.thread, each.start_ns)) continue;
        const auto first = static_cast<std::uint32_t>(items.size());
        for (const std::uint32_t at : each.items) items.push_back(whole.stream_items[at]);
        each.items = {first, static_cast<std::uint32_t>(each.items.size())};
        streams.push_back(each);
    }
    whole.streams = std::move(streams);
    whole.stream_items = std::move(items);
}

void keep_waits(trace& whole, const selected_work& selected, const kept_rows& kept) {
    keep_rows(whole.blocking_calls, [&](const blocking_call& each) {
        return selected.has(each.task, each.thread, each.start_ns);
    });
    keep_rows(whole.lock_waits, [&](const lock_wait& each) {
        return selected.has(each.waiter.task, each.waiter.thread, each.start_ns);
    });
    keep_rows(whole.resource_waits, [&](const resource_wait& each) {
        return selected.has(each.task, each.thread, each.start_ns);
    });
    keep_rows(whole.values, [&](const value_info& each) {
        return selected.has(each.task, each.thread, each.time_ns);
    });
    keep_rows(whole.memory, [&](const memory_event& each) {
        return selected.has(none, each.thread, each.time_ns);
    });
    keep_rows(whole.device_waits, [&](const device_wait& each) {
        return each.await < kept.awaits.size() ? kept.awaits[each.await]
                                               : selected.has(each.task, none, each.time_ns);
    });
    keep_rows(whole.device_ranges, [&](const device_range& each) {
        return selected.has(each.task, each.thread, each.start_ns);
    });
}

}  // namespace

void select_work(trace& whole, const std::vector<work_condition>& where) {
    const selected_work selected(whole, where);
    kept_rows kept(whole);
    keep_work(whole, selected, kept);
    keep_activities(whole, selected, kept);
    keep_requests(whole, selected);
    for (const request_info& each : whole.requests) kept.keep_task(each.task);
    keep_waits(whole, selected, kept);
    keep_streams(whole, selected);
    remove_others(whole, kept);
}

}  // namespace coroscope::analysis::inline part
