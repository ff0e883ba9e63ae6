// SPDX-License-Identifier: Apache-2.0

// The lanes of tasks. On a lane the task is the outermost bar and its scopes lie within. The
// innermost bars are its awaits and, after the wake, "queued"; where there is neither, it runs.

#include "chrome_events.hpp"

#include <algorithm>

#include "places.hpp"

namespace coroscope::analysis::render {
namespace {

/// Whether the await is only the second hop of the one before it: what an Asio operation completes
/// with goes to the task's own executor, and the task is queued once more at once. The short run
/// in between is the executor's, not the task's.
bool is_second_hop(const trace& from, std::uint32_t index) {
    if (index == 0 || index >= from.awaits.size()) return false;
    const await_info& first = from.awaits[index - 1];
    const await_info& second = from.awaits[index];
    if (first.task != second.task || first.site != second.site || first.scope != second.scope ||
        second.task >= from.tasks.size() || !from.tasks[second.task].asio) {
        return false;
    }
    if (!first.wake_ns || !first.resume_ns || !second.wake_ns || !second.resume_ns) return false;
    const bool waited = *first.wake_ns > first.suspend_ns;
    const bool ready_at_once = *second.wake_ns <= second.suspend_ns;
    const std::int64_t ran_ns = second.suspend_ns - *first.resume_ns;
    const std::int64_t queued_ns = *second.resume_ns - *first.wake_ns;
    // What nobody would see as a run of its own: a microsecond, or a tenth of the bar.
    return waited && ready_at_once && ran_ns >= 0 &&
           ran_ns <= std::max<std::int64_t>(1000, queued_ns / 10);
}

/// Viewers sort by it: the lanes of one site stand together, in the order of first appearance.
std::uint32_t rank_of(std::uint32_t site_rank, std::uint32_t lane) {
    constexpr std::uint32_t lanes_of_a_site = 1024;
    return site_rank * lanes_of_a_site + std::min(lane, lanes_of_a_site - 1);
}

}  // namespace

void chrome_events::write_task(std::uint32_t index) {
    const task_info& task = from_.tasks[index];
    const span what = span_of(task);
    const std::uint32_t taken = take_task_lane(task.spawn_site, what);
    lane_of_task_[index] = taken;
    task_lanes_[taken].owner = index;
    task_lanes_[taken].spans.place(what);

    const place where{process::tasks, taken + 1};
    open_complete(where, what, text_.site_name(task.spawn_site), ",\"cat\":\"task\"");
    argument_list arguments(out_);
    arguments.integer("\"task\":", static_cast<std::int64_t>(task.id));
    write_task_id(arguments, "\"parent\":", task.parent);
    write_task_id(arguments, "\"awaiter\":", task.awaiter);
    arguments.member(std::string("\"state\":\"").append(state_name(task.state)).append("\""));
    arguments.member(text_.at(task.spawn_site));
    write_split(arguments, task.time);
    if (task.losses) arguments.member("\"losses\":true");
    out_.raw("}}");
    write_first_queue(where, task);
    ++totals_.tasks;
}

/// A lane of the tasks of one spawn site, which it is named after.
std::uint32_t chrome_events::take_task_lane(std::uint32_t spawn_site, const span& lives) {
    const std::size_t unknown = lanes_of_site_.size() - 1;
    site_lanes& lanes = lanes_of_site_[std::min<std::size_t>(spawn_site, unknown)];
    const std::uint32_t taken = lanes.pool.take(lives);
    if (taken == lanes.tasks.size()) {
        if (taken == 0) lanes.rank = sites_with_lanes_++;
        lanes.tasks.push_back(static_cast<std::uint32_t>(task_lanes_.size()));
        task_lanes_.emplace_back();
        name_lane({process::tasks, lanes.tasks[taken] + 1}, text_.lane_name(spawn_site),
                  rank_of(lanes.rank, taken));
    }
    return lanes.tasks[taken];
}

/// Ready from its first wake to its first slice.
void chrome_events::write_first_queue(const place& where, const task_info& task) {
    if (!task.first_wake_ns || task.slices.empty() || task.older_than_session || task.losses ||
        task.slices.front() >= from_.slices.size()) {
        return;
    }
    const span lives = span_of(task);
    const std::int64_t ran_ns = span_of(from_.slices[task.slices.front()]).start_ns;
    if (ran_ns <= lives.start_ns || ran_ns > lives.end_ns) return;
    const span queued{lives.start_ns, ran_ns};
    task_lanes_[where.tid - 1].spans.place(queued, inside::closed);
    write_queued(where, queued, task.spawn_site);
}

void chrome_events::write_await(std::uint32_t index) {
    ++totals_.awaits;
    if (is_second_hop(from_, index)) return;
    const await_info& await = from_.awaits[index];
    span what = span_of(await);
    if (is_second_hop(from_, index + 1)) what.end_ns = span_of(from_.awaits[index + 1]).end_ns;
    const std::optional<place> where = place_on_task(await.task, what, inside::closed);
    if (!where) {
        --totals_.awaits;
        ++totals_.left_out;
        return;
    }
    const std::int64_t wake_ns =
        await.wake_ns ? std::clamp(*await.wake_ns, what.start_ns, what.end_ns) : what.end_ns;
    const bool waited = wake_ns > what.start_ns || what.end_ns == what.start_ns;
    if (waited) write_suspended(*where, index, {what.start_ns, wake_ns});
    if (wake_ns < what.end_ns) write_queued(*where, {wake_ns, what.end_ns}, await.site);
}

/// From the end of the slice to the wake, or to the resume where nobody saw the wake.
void chrome_events::write_suspended(const place& where, std::uint32_t index, const span& what) {
    const await_info& await = from_.awaits[index];
    const std::uint32_t awaited_site =
        await.awaited < from_.tasks.size() ? from_.tasks[await.awaited].spawn_site : none;
    open_complete(where, what, text_.await_name(await.site, awaited_site), ",\"cat\":\"await\"");
    argument_list arguments(out_);
    write_task_id(arguments, "\"awaited\":", await.awaited);
    write_task_id(arguments, "\"waker\":", await.waker);
    arguments.member(text_.at(await.site));
    if (!await.wake_ns) arguments.member("\"wake\":\"unknown\"");
    if (!await.resume_ns) arguments.member("\"resumed\":false");
    if (await.clipped) arguments.member("\"clipped\":true");
    if (!from_.device_waits.empty()) write_awaited_streams(arguments, index);
    out_.raw("}}");
}

void chrome_events::write_queued(const place& where, const span& what, std::uint32_t site) {
    open_complete(where, what, "\"name\":\"queued\"", ",\"cat\":\"queued\"");
    argument_list arguments(out_);
    arguments.member(text_.at(site));
    out_.raw("}}");
}

std::optional<chrome_events::place> chrome_events::place_on_task(std::uint32_t task,
                                                                 const span& what, inside room) {
    const std::uint32_t taken = task < lane_of_task_.size() ? lane_of_task_[task] : none;
    if (taken != none && task_lanes_[taken].owner == task &&
        what.end_ns <= span_of(from_.tasks[task]).end_ns &&
        task_lanes_[taken].spans.place(what, room)) {
        return place{process::tasks, taken + 1};
    }
    return place_beside(process::tasks, task, what, room);
}

}  // namespace coroscope::analysis::render
