// SPDX-License-Identifier: Apache-2.0
#include "drawing.hpp"

#include <algorithm>
#include <unordered_set>

namespace coroscope::analysis::inline timelines {
namespace {

// Ids that no real thread has: real ids are below 2^22. Viewers require ids below 2^32.
constexpr std::uint32_t first_spare_tid = 1U << 29;
constexpr std::uint32_t first_side_tid = 1U << 30;

span sane(std::int64_t start_ns, std::int64_t end_ns) {
    const std::int64_t start = std::clamp<std::int64_t>(start_ns, 0, latest_ns);
    return {start, std::clamp(end_ns, start, latest_ns)};
}

/// Returns whether the scope may have left its thread, or let other tasks run there, while it was
/// open.
bool may_have_moved(const event& scope) {
    return scope.detail != none &&
           (scope.flags & (event_in_frame | event_async | event_await)) != 0;
}

/// Returns each thread's system id. A second thread with the same id, and events without a thread,
/// get unused ids, because a viewer would join threads with one id.
std::vector<std::uint32_t> tids_of(const std::vector<thread_info>& threads) {
    std::vector<std::uint32_t> tids;
    std::unordered_set<std::uint64_t> taken;
    for (const thread_info& each : threads) {
        const bool usable =
            each.os_id != 0 && each.os_id < first_spare_tid && taken.insert(each.os_id).second;
        const auto spare = first_spare_tid + static_cast<std::uint32_t>(tids.size());
        tids.push_back(usable ? static_cast<std::uint32_t>(each.os_id) : spare);
    }
    tids.push_back(first_spare_tid + static_cast<std::uint32_t>(tids.size()));
    return tids;
}

}  // namespace

drawing::drawing(const trace& from, canvas& on)
    : from_(from),
      canvas_(on),
      names_(from),
      lanes_(static_cast<std::uint32_t>(from.threads.size()) + 1),
      thread_lanes_(from.threads.size() + 1),
      thread_tids_(tids_of(from.threads)),
      lane_of_task_(from.tasks.size(), none),
      lanes_of_site_(from.sites.size() + 1),
      beside_(count_processes(from)),
      parts_(from),
      flow_to_slice_(from.slices.size()),
      flow_to_activity_(from.device_activities.size()),
      coverage_(from),
      nesting_(from) {
    if (!from.states.any()) return;
    running_.emplace(from);
    reasons_.emplace(from);
}

span drawing::span_of(const task_info& task) const {
    const std::int64_t start = task.first_wake_ns ? *task.first_wake_ns : task.spawn_ns.value_or(0);
    return sane(start, task.end_ns.value_or(from_.duration_ns));
}

span drawing::span_of_slice(std::uint32_t index) const {
    const slice& run = from_.slices[index];
    return sane(run.start_ns, parts_.is_continued(index) ? run.end_ns : parts_.end_ns(index));
}

span drawing::span_between(std::int64_t start_ns, std::int64_t end_ns) {
    return sane(start_ns, end_ns);
}

span drawing::span_of(const slice& run) { return sane(run.start_ns, run.end_ns); }

span drawing::span_of(const event& scope) { return sane(scope.start_ns, scope.end_ns); }

span drawing::span_of(const device_activity& activity) {
    return sane(activity.start_ns, activity.end_ns);
}

span drawing::span_of(const await_info& await) const {
    if (await.resume_ns) return sane(await.suspend_ns, *await.resume_ns);
    const bool known = await.task < from_.tasks.size();
    const optional_ns end = known ? from_.tasks[await.task].end_ns : std::nullopt;
    return sane(await.suspend_ns, end.value_or(from_.duration_ns));
}

void drawing::name_lanes() {
    const std::string name_of_process = from_.process_name.empty() ? "process" : from_.process_name;
    canvas_.name_process(process::threads, name_of_process, 0);
    for (std::uint32_t at = 0; at < from_.threads.size(); ++at) {
        const thread_info& thread = from_.threads[at];
        const bool named = !thread.name.empty();
        canvas_.name_lane(lane_of_thread(at),
                          named ? thread.name : "thread " + std::to_string(thread.id), at);
    }
    if (!from_.tasks.empty()) canvas_.name_process(process::tasks, name_of_process + ": tasks", 1);
}

void drawing::draw_slice(std::uint32_t index) {
    if (parts_.is_continued(index)) return;
    const slice& run = from_.slices[index];
    const span what = span_of_slice(index);
    const std::optional<lane_ref> where = place_on_thread(run.thread, what);
    if (!where) {
        ++totals_.left_out;
        flow_to_slice_[index] = false;
        return;
    }
    const std::uint32_t site =
        run.task < from_.tasks.size() ? from_.tasks[run.task].spawn_site : none;
    bar& drawn = open(*where, what, names_.of_site(site), names_.category(kind_of_bar::slice));
    add_task_id(drawn, argument::task, run.task);
    add_place(drawn, site);
    if (running_) add_states(drawn, running_->of_slices(index, parts_.last_part(index)));
    if (flow_to_slice_[index]) drawn.flow_in = std::uint64_t{index} + 1;
    canvas_.draw(drawn);
    ++totals_.slices;
}

void drawing::draw_scope(std::uint32_t index) {
    const event& scope = from_.events[index];
    const span what = span_of(scope);
    const bool moved = may_have_moved(scope);
    // A scope that moved between threads outside tasks has no lane.
    const bool apart = moved && scope.task >= from_.tasks.size();
    const std::optional<lane_ref> where = apart   ? lane_of_thread(scope.thread)
                                          : moved ? place_on_task(scope.task, what, inside::open)
                                                  : place_on_thread(scope.thread, what);
    if (!where) {
        ++totals_.left_out;
        return;
    }
    bar& drawn = open(*where, what, name_of(scope), names_.category_of_site(scope.site));
    describe_scope(drawn, index);
    if (running_) add_states(drawn, scope, moved);
    if (apart)
        canvas_.draw_apart(drawn);
    else
        canvas_.draw(drawn);
    ++totals_.scopes;
}

std::uint32_t drawing::name_of(const event& scope) const {
    return (scope.flags & event_await) != 0 ? names_.of_await_string(scope.name)
                                            : names_.of_string(scope.name);
}

void drawing::describe_scope(bar& drawn, std::uint32_t index) {
    const event& scope = from_.events[index];
    add_task_id(drawn, argument::task, scope.task);
    add_place(drawn, scope.site);
    if ((scope.flags & event_clipped) != 0) drawn.flag(argument::clipped, true);
    if ((scope.flags & event_abandoned) != 0) drawn.flag(argument::abandoned, true);
    if ((scope.flags & event_open) != 0) drawn.flag(argument::open, true);
    if (scope.self_running_ns != saturated_difference(scope.end_ns, scope.start_ns))
        drawn.integer(argument::self_ns, scope.self_running_ns);
    if (nesting_.take(index)) drawn.flag(argument::nested, true);
    if (!ranges_.empty()) add_range_on_device(drawn, index);
    if (scope.detail >= from_.details.size()) return;
    const event_detail& detail = from_.details[scope.detail];
    if ((scope.flags & event_suspension_unknown) != 0) {
        drawn.text(argument::suspension, "unknown");
    } else if (may_have_moved(scope) || detail.time.wall_ns() > detail.time.running_ns) {
        add_split(drawn, detail.time);
    }
    if (detail.arguments < from_.strings.size())
        drawn.text(argument::arguments, from_.strings[detail.arguments]);
}

void drawing::add_split(bar& drawn, const time_split& time) {
    drawn.integer(argument::running_ns, time.running_ns);
    drawn.integer(argument::suspended_ns, time.suspended_ns);
    drawn.integer(argument::queued_ns, time.queued_ns);
    drawn.integer(argument::waiting_ns, time.waiting_ns);
}

void drawing::add_task_id(bar& drawn, argument key, std::uint32_t task) const {
    if (task < from_.tasks.size())
        drawn.integer(key, static_cast<std::int64_t>(from_.tasks[task].id));
}

void drawing::add_place(bar& drawn, std::uint32_t site) const {
    if (site < from_.sites.size() && !from_.sites[site].file.empty()) drawn.at(site);
}

bar& drawing::open(const lane_ref& where, const span& what, std::uint32_t name,
                   std::uint32_t category) {
    bar_.clear();
    bar_.where = where;
    bar_.what = what;
    bar_.name = name;
    bar_.category = category;
    bar_.flow_in = bar_.flow_out = 0;
    bar_.is_moment = false;
    return bar_;
}

std::optional<lane_ref> drawing::place_on_thread(std::uint32_t thread, const span& what) {
    const std::uint32_t at = thread_at(thread);
    draw_states_until(what.start_ns, lane_of_thread(at), thread_lanes_[at]);
    if (thread_lanes_[at].place(what)) return lane_of_thread(thread);
    return place_beside(process::threads, at, what, inside::open);
}

std::optional<lane_ref> drawing::place_beside(process in, std::uint32_t owner, const span& what,
                                              inside room) {
    lanes_beside& beside = beside_[static_cast<std::size_t>(in)];
    const std::optional<std::uint32_t> taken = beside.spans.place(owner, what, room);
    if (!taken) return std::nullopt;
    if (*taken == beside.where.size()) {
        beside.where.push_back(new_lane(in, first_side_tid + *taken));
        canvas_.name_lane(beside.where.back(), "overlapping " + std::to_string(*taken + 1),
                          first_side_tid + *taken);
    }
    return beside.where[*taken];
}

/// The thread's place among the lanes. The last lane is for events without a thread.
std::uint32_t drawing::thread_at(std::uint32_t thread) const {
    return std::min(thread, static_cast<std::uint32_t>(from_.threads.size()));
}

lane_ref drawing::lane_of_thread(std::uint32_t thread) const {
    const std::uint32_t at = thread_at(thread);
    return {process::threads, thread_tids_[at], at};
}

}  // namespace coroscope::analysis::inline timelines
