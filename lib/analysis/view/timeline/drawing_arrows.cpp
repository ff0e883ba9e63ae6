// SPDX-License-Identifier: Apache-2.0

// The arrows: from spawns and wakes to slices, from calls to device activities, and from these to
// the slices in which tasks went on.

#include <algorithm>

#include "../../model/interruptions.hpp"
#include "drawing.hpp"

namespace coroscope::analysis::inline timelines {

void drawing::draw_flow_sources() {
    for (std::uint32_t task = 0; task < from_.tasks.size() && !canvas_.failed(); ++task)
        draw_flows_to(task);
    for (std::uint32_t at = 0; at < from_.device_activities.size() && !canvas_.failed(); ++at)
        draw_launch(at);
    find_resumed();
    find_ranges();
}

/// Draws the sources of arrows: from the spawn to the first slice, and from each wake to the slice
/// that its resume began.
void drawing::draw_flows_to(std::uint32_t index) {
    const task_info& task = from_.tasks[index];
    if (task.slices.empty()) return;
    if (task.spawn_ns && !task.older_than_session) {
        draw_flow_source(task.spawn_thread, *task.spawn_ns, index, task.slices.front(),
                         word::spawn);
    }
    auto next = task.slices.begin();
    for (const std::uint32_t each : task.awaits) {
        if (each >= from_.awaits.size()) continue;
        const await_info& await = from_.awaits[each];
        if (!await.wake_ns || !await.resume_ns || is_interruption(await)) continue;
        while (next != task.slices.end() && *next < from_.slices.size() &&
               from_.slices[*next].start_ns < *await.resume_ns) {
            ++next;
        }
        if (next == task.slices.end()) return;
        draw_flow_source(await.waker_thread, *await.wake_ns, index, *next, word::wake);
    }
}

void drawing::draw_flow_source(std::uint32_t thread, std::int64_t time_ns, std::uint32_t task,
                               std::uint32_t to, word name) {
    if (thread >= from_.threads.size() || to >= from_.slices.size() || flow_to_slice_[to]) return;
    flow_to_slice_[to] =
        draw_flow_mark(lane_of_thread(thread), time_ns, span_of(from_.slices[to]).start_ns, task,
                       std::uint64_t{to} + 1, name);
}

/// Draws an event of no length as the source of an arrow. In every viewer the arrow then starts at
/// its time and on its lane, which it does not if it starts inside a longer event. Returns false if
/// there is no arrow.
bool drawing::draw_flow_mark(const lane_ref& where, std::int64_t time_ns, std::int64_t leads_to_ns,
                             std::uint32_t task, std::uint64_t id, word name) {
    // If events begin at one time, a viewer may process the longest first: here the slice before
    // its cause. It then loses the arrow. So the arrow of a hand-over starts at the last nanosecond
    // of the slice that handed over.
    if (time_ns == leads_to_ns) --time_ns;
    if (time_ns > leads_to_ns || time_ns < 0) return false;
    bar& drawn = open_moment(where, time_ns, names_.of_word(name));
    add_task_id(drawn, argument::task, task);
    drawn.flow_out = id;
    canvas_.draw(drawn);
    ++totals_.flows;
    return true;
}

bar& drawing::open_moment(const lane_ref& where, std::int64_t time_ns, std::uint32_t name) {
    bar& drawn = open(where, {time_ns, time_ns}, name, names_.category(kind_of_bar::flow));
    drawn.is_moment = true;
    return drawn;
}

/// Draws the source of the arrow from a call to the activity that it requested.
void drawing::draw_launch(std::uint32_t index) {
    const device_activity& activity = from_.device_activities[index];
    if (!is_device_work(activity.what) || activity.call >= from_.device_activities.size()) return;
    const device_activity& call = from_.device_activities[activity.call];
    if (call.thread >= from_.threads.size()) return;
    flow_to_activity_[index] = draw_flow_mark(lane_of_thread(call.thread), span_of(call).start_ns,
                                              span_of(activity).start_ns, activity.task,
                                              from_.slices.size() + index + 1, word::launch);
}

/// Finds for each await that ended the last activity of its streams before its end: that activity
/// resumed the await.
void drawing::find_resumed() {
    std::uint32_t latest = none;  // activity
    for (std::uint32_t at = 0; at < from_.device_waits.size(); ++at) {
        const device_wait& wait = from_.device_waits[at];
        if (wait.await >= from_.awaits.size() || !from_.awaits[wait.await].resume_ns) continue;
        if (at == 0 || from_.device_waits[at - 1].await != wait.await) latest = none;
        const std::uint32_t last = last_of(wait, *from_.awaits[wait.await].resume_ns);
        if (last == none) continue;
        if (latest == none)
            resumed_.emplace_back(last, at);
        else if (from_.device_activities[latest].end_ns < from_.device_activities[last].end_ns)
            resumed_.back() = {last, at};
        else
            continue;
        latest = last;
    }
    std::sort(resumed_.begin(), resumed_.end());
}

/// Returns the last activity of the wait that ended before the resume. A stream runs its work in
/// order, so only the last few activities are searched.
std::uint32_t drawing::last_of(const device_wait& wait, std::int64_t resume_ns) const {
    constexpr std::size_t looked_at = 64;
    std::uint32_t last = none;
    for (std::size_t back = 0; back < std::min(wait.activities.size(), looked_at); ++back) {
        const std::uint32_t position = wait.activities[wait.activities.size() - 1 - back];
        if (position >= from_.stream_order.size()) continue;
        const std::uint32_t at = from_.stream_order[position];
        if (at >= from_.device_activities.size()) continue;
        const std::int64_t end_ns = from_.device_activities[at].end_ns;
        if (end_ns <= resume_ns && (last == none || end_ns > from_.device_activities[last].end_ns))
            last = at;
    }
    return last;
}

/// Returns the first slice of the task that began at `time_ns` or later.
std::uint32_t drawing::slice_from(std::uint32_t task, std::int64_t time_ns) const {
    const index_range slices = from_.tasks[task].slices;
    std::size_t first = 0, end = slices.size();
    while (first < end) {
        const std::size_t middle = (first + end) / 2;
        if (slices[middle] >= from_.slices.size()) return none;
        if (from_.slices[slices[middle]].start_ns < time_ns)
            first = middle + 1;
        else
            end = middle;
    }
    return first < slices.size() ? slices[first] : none;
}

/// Draws the arrow from the end of an awaited activity to the slice in which the task went on. A
/// slice can have one arrow, that of its wake, so this arrow leads to a mark at the slice's
/// beginning.
void drawing::draw_resumed(std::uint32_t index, const lane_ref& where) {
    const std::pair<std::uint32_t, std::uint32_t> first_wait(index, 0);
    for (auto at = std::lower_bound(resumed_.begin(), resumed_.end(), first_wait);
         at != resumed_.end() && at->first == index; ++at) {
        const device_wait& wait = from_.device_waits[at->second];
        const await_info& await = from_.awaits[wait.await];
        if (await.task >= from_.tasks.size()) continue;
        const std::uint32_t next = slice_from(await.task, *await.resume_ns);
        if (next == none || from_.slices[next].thread >= from_.threads.size()) continue;
        const slice& resumed = from_.slices[next];
        const std::uint64_t id =
            from_.slices.size() + from_.device_activities.size() + at->second + 1;
        const span ended = span_of(from_.device_activities[index]);
        const std::int64_t resumed_ns = span_of(resumed).start_ns;
        if (!draw_flow_mark(where, std::max(ended.start_ns, ended.end_ns - 1), resumed_ns,
                            await.task, id, word::awaited))
            continue;
        text_ = "after " + stream_text(from_, wait.context, wait.stream);
        bar& drawn = open_moment(lane_of_thread(resumed.thread), resumed_ns, none);
        drawn.own_name = text_;
        drawn.flow_in = id;
        canvas_.draw(drawn);
    }
}

}  // namespace coroscope::analysis::inline timelines
