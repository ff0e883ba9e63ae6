// SPDX-License-Identifier: Apache-2.0

// The lanes of tasks. On a lane the task is the outermost bar and its scopes lie within. The
// innermost bars are its awaits and, after the wake, "queued"; outside of these it runs.

#include "drawing.hpp"

#include <algorithm>

#include <coroscope/analysis/executor_statistics.hpp>

#include "../../words/places.hpp"

namespace coroscope::analysis::inline timelines {
namespace {

/// Returns whether the await is only the second hop of the await before it. The completion of an
/// Asio operation is posted to the task's own executor, so the task is queued a second time at
/// once. The short run in between is that of the executor, not of the task.
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
    // Too short to be visible as a run of its own: a microsecond, or a tenth of the bar.
    return waited && ready_at_once && ran_ns >= 0 &&
           ran_ns <= std::max<std::int64_t>(1000, queued_ns / 10);
}

/// Returns the rank by which viewers sort lanes: lanes of one site are together, in the order of
/// their first use.
std::uint32_t rank_of(std::uint32_t site_rank, std::uint32_t lane) {
    constexpr std::uint32_t lanes_of_a_site = 1024;
    return site_rank * lanes_of_a_site + std::min(lane, lanes_of_a_site - 1);
}

}  // namespace

void drawing::draw_task(std::uint32_t index) {
    const task_info& task = from_.tasks[index];
    const span what = span_of(task);
    const std::uint32_t taken = take_task_lane(task.spawn_site, what);
    const lane_ref where = task_lanes_[taken].where;
    draw_states_until(what.start_ns, where, task_lanes_[taken].spans, task_lanes_[taken].owner);
    lane_of_task_[index] = taken;
    task_lanes_[taken].owner = index;
    task_lanes_[taken].spans.place(what);

    bar& drawn =
        open(where, what, names_.of_site(task.spawn_site), names_.category(kind_of_bar::task));
    drawn.integer(argument::task, static_cast<std::int64_t>(task.id));
    add_task_id(drawn, argument::parent, task.parent);
    add_task_id(drawn, argument::awaiter, task.awaiter);
    drawn.text(argument::state, state_name(task.state));
    add_place(drawn, task.spawn_site);
    const std::string spawned_at = spawn_place_text(from_, task.spawn_place);
    if (!spawned_at.empty()) drawn.text(argument::spawned_at, spawned_at);
    add_split(drawn, task.time);
    if (running_ && !task.slices.empty())
        add_states(drawn, running_->of_slices(task.slices.front(), task.slices.back()));
    const std::string executor = executor_text(task.executor);
    if (!executor.empty()) drawn.text(argument::executor, executor);
    if (task.losses) drawn.flag(argument::losses, true);
    canvas_.draw(drawn);
    draw_first_queue(where, task);
    ++totals_.tasks;
}

/// The name of an executor; empty if it is unknown.
std::string drawing::executor_text(std::uint32_t executor) const {
    return executor < from_.executors.size() ? name_of_executor(from_, executor) : std::string();
}

/// Returns a free lane for tasks of one spawn site. The lane is named after the site, and each
/// further lane of the site has a number.
std::uint32_t drawing::take_task_lane(std::uint32_t spawn_site, const span& lives) {
    const std::size_t unknown = lanes_of_site_.size() - 1;
    site_lanes& lanes = lanes_of_site_[std::min<std::size_t>(spawn_site, unknown)];
    const std::uint32_t taken = lanes.pool.take(lives);
    if (taken == lanes.tasks.size()) {
        if (taken == 0) lanes.rank = sites_with_lanes_++;
        const auto number = static_cast<std::uint32_t>(task_lanes_.size());
        lanes.tasks.push_back(number);
        task_lanes_.push_back({{}, new_lane(process::tasks, number + 1)});
        std::string name = names_.lane_name(spawn_site);
        if (taken != 0) name.append(" ").append(std::to_string(taken + 1));
        canvas_.name_lane(task_lanes_.back().where, name, rank_of(lanes.rank, taken));
    }
    return lanes.tasks[taken];
}

/// Draws the time from the task's first wake to its first slice, in which it was queued.
void drawing::draw_first_queue(const lane_ref& where, const task_info& task) {
    if (!task.first_wake_ns || task.slices.empty() || task.older_than_session || task.losses ||
        task.slices.front() >= from_.slices.size()) {
        return;
    }
    const span lives = span_of(task);
    const std::int64_t ran_ns = span_of(from_.slices[task.slices.front()]).start_ns;
    if (ran_ns <= lives.start_ns || ran_ns > lives.end_ns) return;
    const span queued{lives.start_ns, ran_ns};
    task_lanes_[where.tid - 1].spans.place(queued, inside::closed);
    draw_queued(where, queued, task.spawn_site);
}

void drawing::draw_await(std::uint32_t index) {
    ++totals_.awaits;
    if (is_second_hop(from_, index)) return;
    const await_info& await = from_.awaits[index];
    span what = span_of(await);
    if (is_second_hop(from_, index + 1)) what.end_ns = span_of(from_.awaits[index + 1]).end_ns;
    const std::optional<lane_ref> where = place_on_task(await.task, what, inside::closed);
    if (!where) {
        --totals_.awaits;
        ++totals_.left_out;
        return;
    }
    const std::int64_t wake_ns =
        await.wake_ns ? std::clamp(*await.wake_ns, what.start_ns, what.end_ns) : what.end_ns;
    const bool waited = wake_ns > what.start_ns || what.end_ns == what.start_ns;
    if (waited) draw_suspended(*where, index, {what.start_ns, wake_ns});
    if (wake_ns < what.end_ns) draw_queued(*where, {wake_ns, what.end_ns}, await.site);
}

/// Draws the await from the end of the slice to the wake, or to the resume if the wake is unseen.
void drawing::draw_suspended(const lane_ref& where, std::uint32_t index, const span& what) {
    const await_info& await = from_.awaits[index];
    const std::uint32_t awaited_site =
        await.awaited < from_.tasks.size() ? from_.tasks[await.awaited].spawn_site : none;
    bar& drawn = open(where, what, names_.of_await(await.site, awaited_site),
                      names_.category(kind_of_bar::await));
    add_task_id(drawn, argument::awaited, await.awaited);
    add_task_id(drawn, argument::waker, await.waker);
    add_place(drawn, await.site);
    if (!await.wake_ns || await.reason != wake_reason::unknown)
        drawn.text(argument::wake, wake_text(from_, await));
    if (!await.resume_ns) drawn.flag(argument::resumed, false);
    if (await.resume_overdue) drawn.flag(argument::resume_overdue, true);
    if (await.clipped) drawn.flag(argument::clipped, true);
    const std::string executor = executor_text(await.executor);
    if (!executor.empty()) drawn.text(argument::executor, executor);
    const std::string object = object_name(from_, await.object);
    if (!object.empty()) drawn.text(argument::object, object);
    if (await.outcome != coroscope::trace::await_outcome::unknown)
        drawn.text(argument::outcome, outcome_name(await.outcome));
    if (!from_.device_waits.empty()) add_awaited_streams(drawn, index);
    canvas_.draw(drawn);
}

void drawing::draw_queued(const lane_ref& where, const span& what, std::uint32_t site) {
    bar& drawn =
        open(where, what, names_.of_word(word::queued), names_.category(kind_of_bar::queued));
    add_place(drawn, site);
    canvas_.draw(drawn);
}

std::optional<lane_ref> drawing::place_on_task(std::uint32_t task, const span& what, inside room) {
    const std::uint32_t taken = task < lane_of_task_.size() ? lane_of_task_[task] : none;
    if (taken != none && task_lanes_[taken].owner == task)
        draw_states_until(what.start_ns, task_lanes_[taken].where, task_lanes_[taken].spans, task);
    if (taken != none && task_lanes_[taken].owner == task &&
        what.end_ns <= span_of(from_.tasks[task]).end_ns &&
        task_lanes_[taken].spans.place(what, room)) {
        return task_lanes_[taken].where;
    }
    return place_beside(process::tasks, task, what, room);
}

}  // namespace coroscope::analysis::inline timelines
