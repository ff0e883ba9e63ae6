// SPDX-License-Identifier: Apache-2.0
#include "cut_stretch.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "cut_events.hpp"
#include "cut_tasks.hpp"
#include "kept_rows.hpp"

namespace coroscope::analysis::inline part {
namespace {

/// Removes the rows outside, and clips and moves the others by `cut`.
template <class Row, class Cut>
void cut_waits(std::vector<Row>& rows, const stretch& to, const Cut& cut) {
    std::erase_if(rows, [&](const Row& each) { return !to.touches(each.start_ns, each.end_ns); });
    for (Row& each : rows) {
        cut(each);
        to.move(each.start_ns);
        to.move(each.end_ns);
    }
}

template <class Row, class Thread>
void sort_waits(std::vector<Row>& rows, const Thread& thread_of) {
    std::ranges::stable_sort(rows, {}, [&](const Row& each) {
        return std::tuple(each.start_ns, each.end_ns, thread_of(each));
    });
}

/// A release outside the stretch is not seen in it.
void cut_release(optional_ns& released_ns, const stretch& to) {
    if (released_ns && !to.has(*released_ns)) released_ns.reset();
    released_ns = to.moved(released_ns);
}

void cut_thread_waits(trace& whole, const stretch& to) {
    cut_waits(whole.blocking_calls, to, [](const blocking_call&) {});
    sort_waits(whole.blocking_calls, [](const blocking_call& each) { return each.thread; });
    cut_waits(whole.lock_waits, to, [&](lock_wait& each) {
        each.began_before |= to.begins_before(each.start_ns);
        each.gave_up &= !to.ends_after(each.end_ns);
        cut_release(each.released_ns, to);
    });
    sort_waits(whole.lock_waits, [](const lock_wait& each) { return each.waiter.thread; });
    cut_waits(whole.resource_waits, to, [&](resource_wait& each) {
        each.clipped |= to.begins_before(each.start_ns);
        each.gave_up &= !to.ends_after(each.end_ns);
        cut_release(each.released_ns, to);
    });
    sort_waits(whole.resource_waits, [](const resource_wait& each) { return each.thread; });
}

std::uint64_t cut_requests(trace& whole, const stretch& to) {
    std::uint64_t crossing = 0;
    cut_waits(whole.requests, to, [&](request_info& each) {
        crossing += to.cuts(each.start_ns, each.end_ns) ? 1U : 0U;
        each.clipped |= to.begins_before(each.start_ns);
        if (to.ends_after(each.end_ns)) each.end = request_end::unfinished;
    });
    auto& changed = whole.sampling.changed;
    std::erase_if(changed, [&](const interval_change& each) { return !to.has(each.time_ns); });
    for (interval_change& each : changed) to.move(each.time_ns);
    whole.health.left_out_requests = static_cast<std::uint64_t>(
        std::ranges::count(whole.requests, true, &request_info::left_out));
    return crossing;
}

template <class Row>
void keep_moments(std::vector<Row>& rows, const stretch& to) {
    std::erase_if(rows, [&](const Row& each) { return !to.has(each.time_ns); });
    for (Row& each : rows) to.move(each.time_ns);
}

void cut_streams(trace& whole, const stretch& to) {
    std::vector<stream_item> items;
    std::vector<stream_info> streams;
    for (stream_info each : whole.streams) {
        const std::int64_t end_ns =
            each.end_ns.value_or(std::max(whole.duration_ns, each.start_ns));
        if (!to.touches(each.start_ns, end_ns)) continue;
        const auto first = static_cast<std::uint32_t>(items.size());
        for (const std::uint32_t at : each.items)
            if (to.has(whole.stream_items[at].time_ns)) {
                items.push_back(whole.stream_items[at]);
                to.move(items.back().time_ns);
            }
        each.items = {first, static_cast<std::uint32_t>(items.size()) - first};
        if (each.end_ns && to.ends_after(*each.end_ns)) each.end_ns.reset();
        to.move(each.start_ns);
        each.end_ns = to.moved(each.end_ns);
        streams.push_back(each);
    }
    whole.streams = std::move(streams);
    whole.stream_items = std::move(items);
}

void cut_devices(trace& whole, const stretch& to, kept_rows& kept) {
    std::vector<device_activity>& all = whole.device_activities;
    for (std::uint32_t at = 0; at < all.size(); ++at) {
        device_activity& each = all[at];
        if (!to.touches(each.start_ns, each.end_ns)) continue;
        kept.activities.push_back(at);
        to.move(each.start_ns);
        to.move(each.end_ns);
        each.queued_ns = to.moved(each.queued_ns);
    }
    std::ranges::stable_sort(kept.activities, [&](std::uint32_t left, std::uint32_t right) {
        return std::pair(all[left].start_ns, -all[left].end_ns) <
               std::pair(all[right].start_ns, -all[right].end_ns);
    });
    std::erase_if(whole.device_waits, [&](const device_wait& each) {
        return each.await < kept.awaits.size() ? !kept.awaits[each.await] : !to.has(each.time_ns);
    });
    for (device_wait& each : whole.device_waits) to.move(each.time_ns);
    for (device_dependency& each : whole.device_dependencies) {
        each.time_ns -= to.from_ns;  // those before the stretch still hold
        each.recorded_ns -= to.from_ns;
    }
    std::erase_if(whole.device_ranges, [&](const device_range& each) {
        return !to.touches(each.start_ns,
                           each.end_ns.value_or(std::max(whole.duration_ns, each.start_ns)));
    });
    for (device_range& each : whole.device_ranges) {
        if (each.end_ns && to.ends_after(*each.end_ns)) each.end_ns.reset();
        to.move(each.start_ns);
        to.move(each.attached_ns);
        each.end_ns = to.moved(each.end_ns);
    }
}

/// The pieces of a thread's time within the stretch, with their sums from its start on.
thread_history cut_history(const thread_states& states, std::uint32_t thread, const stretch& to) {
    const std::vector<state_point>& points = states.histories[thread].points;
    thread_history left;
    state_times sums;
    std::size_t near = 0;
    const auto add = [&](std::int64_t time_ns, thread_state state) {
        left.points.push_back(
            {to.moved(time_ns), sums.on_cpu_ns, sums.blocked_ns, sums.preempted_ns, state});
    };
    for (std::size_t at = 0; at + 1 < points.size(); ++at) {
        const std::int64_t first_ns = std::max(points[at].time_ns, to.from_ns);
        const std::int64_t last_ns = std::min(points[at + 1].time_ns, to.to_ns);
        if (last_ns <= first_ns) continue;
        add(first_ns, points[at].state);
        sums.add(states.between(thread, first_ns, last_ns, near));
        if (at + 2 == points.size() || last_ns == to.to_ns) add(last_ns, thread_state::unknown);
    }
    return left;
}

void cut_states(trace& whole, const stretch& to) {
    std::vector<thread_history> left;
    for (std::uint32_t at = 0; at < whole.states.histories.size(); ++at)
        left.push_back(cut_history(whole.states, at, to));
    whole.states.histories = std::move(left);
    std::vector<blocked_look>& looks = whole.states.looks;
    keep_moments(looks, to);
    for (blocked_look& each : looks) each.since_ns = to.moved(each.since_ns);
}

void keep_all_tasks_of(const trace& whole, const std::vector<std::uint32_t>& events,
                       kept_rows& kept) {
    for (const std::uint32_t at : events) kept.keep_task(whole.events[at].task);
    for (const request_info& each : whole.requests) kept.keep_task(each.task);
}

/// The events whose ends are the session's stay so if the stretch ends with the session.
void count_open_ends(trace& whole, const stretch& to) {
    if (to.has_end) return;
    whole.health.open_ranges = 0;
    whole.health.open_scopes = 0;
}

}  // namespace

void cut_stretch(trace& whole, const stretch& to) {
    trace_part& counts = whole.health.part;
    kept_rows kept(whole);
    kept.events = events_in(whole, to);
    keep_tasks_in(whole, to, kept);
    counts.cut_requests += cut_requests(whole, to);
    keep_all_tasks_of(whole, kept.events, kept);
    counts.cut_scopes += cut_events(whole, kept.events, to);
    counts.cut_tasks += cut_tasks(whole, to, kept);
    cut_thread_waits(whole, to);
    cut_streams(whole, to);
    cut_devices(whole, to, kept);
    keep_moments(whole.values, to);
    keep_moments(whole.memory, to);
    cut_states(whole, to);
    count_open_ends(whole, to);
    remove_others(whole, kept);
    whole.start_realtime_ns += to.from_ns;
    whole.start_monotonic_ns += to.from_ns;
    whole.duration_ns = to.length_ns();
}

}  // namespace coroscope::analysis::inline part
