// SPDX-License-Identifier: Apache-2.0
#include "chrome_events.hpp"

#include "places.hpp"
#include "utf8.hpp"

namespace coroscope::analysis::render {
namespace {

// Ids that no real process or thread of the trace has: pids end at 2^22, and viewers ask for tids
// below 2^32.
constexpr std::uint32_t tasks_pid_bit = 1U << 30;
constexpr std::uint32_t first_side_tid = 1U << 30;

/// Whether the scope may have left its thread, or let others run there, while it was open.
bool may_have_moved(const event& scope) {
    return scope.detail != none &&
           (scope.flags & (event_in_frame | event_async | event_await)) != 0;
}

}  // namespace

chrome_events::chrome_events(const trace& from, const byte_sink& sink)
    : from_(from),
      out_(sink),
      text_(from),
      thread_lanes_(from.threads.size() + 1),
      lane_of_task_(from.tasks.size(), none),
      flow_to_slice_(from.slices.size()) {
    const std::uint32_t pid = from.process_id & (tasks_pid_bit - 1);
    heads_[0] = "{\"pid\":" + std::to_string(pid) + ",\"tid\":";
    heads_[1] = "{\"pid\":" + std::to_string(pid | tasks_pid_bit) + ",\"tid\":";
}

void chrome_events::write_task(std::uint32_t index) {
    const task_info& task = from_.tasks[index];
    const span what = span_of(task);
    const std::uint32_t taken = pool_.take(what);
    if (taken == task_lanes_.size()) {
        task_lanes_.emplace_back();
        name_lane({process::tasks, taken + 1}, "tasks " + std::to_string(taken + 1), taken);
    }
    lane_of_task_[index] = taken;
    task_lanes_[taken].owner = index;
    task_lanes_[taken].spans.place(what);

    open_complete({process::tasks, taken + 1}, what, text_.site_name(task.spawn_site),
                  ",\"cat\":\"task\"");
    argument_list arguments(out_);
    arguments.integer("\"task\":", static_cast<std::int64_t>(task.id));
    write_task_id(arguments, "\"parent\":", task.parent);
    write_task_id(arguments, "\"awaiter\":", task.awaiter);
    arguments.member(std::string("\"state\":\"").append(state_name(task.state)).append("\""));
    arguments.member(text_.at(task.spawn_site));
    write_split(arguments, task.time);
    if (task.losses) arguments.member("\"losses\":true");
    out_.raw("}}");
    ++totals_.tasks;
}

void chrome_events::write_slice(std::uint32_t index) {
    const slice& run = from_.slices[index];
    const span what = span_of(run);
    const std::optional<place> where = place_on_thread(run.thread, what);
    if (!where) {
        ++totals_.left_out;
        flow_to_slice_[index] = false;
        return;
    }
    const std::uint32_t site =
        run.task < from_.tasks.size() ? from_.tasks[run.task].spawn_site : none;
    open_complete(*where, what, text_.site_name(site), ",\"cat\":\"slice\"");
    argument_list arguments(out_);
    write_task_id(arguments, "\"task\":", run.task);
    arguments.member(text_.at(site));
    out_.raw("}");
    if (flow_to_slice_[index]) {
        out_.raw(",\"flow_in\":true,\"bind_id\":").id(std::uint64_t{index} + 1);
    }
    out_.raw("}");
    ++totals_.slices;
}

void chrome_events::write_scope(std::uint32_t index) {
    const event& scope = from_.events[index];
    const span what = span_of(scope);
    const bool moved = may_have_moved(scope);
    if (moved && scope.task >= from_.tasks.size()) return write_apart(scope, what);
    const std::optional<place> where =
        moved ? place_on_task(scope.task, what, inside::open) : place_on_thread(scope.thread, what);
    if (!where) {
        ++totals_.left_out;
        return;
    }
    open_complete(*where, what, text_.event_name(scope.name), text_.category(scope.site));
    write_scope_arguments(scope);
    out_.raw("}}");
    ++totals_.scopes;
}

void chrome_events::write_await(std::uint32_t index) {
    const await_info& await = from_.awaits[index];
    const span what = span_of(await);
    const std::optional<place> where = place_on_task(await.task, what, inside::closed);
    if (!where) {
        ++totals_.left_out;
        return;
    }
    const bool named = await.site < from_.sites.size();
    open_complete(*where, what, named ? text_.site_name(await.site) : "\"name\":\"await\"",
                  ",\"cat\":\"await\"");
    argument_list arguments(out_);
    write_task_id(arguments, "\"awaited\":", await.awaited);
    write_task_id(arguments, "\"waker\":", await.waker);
    arguments.member(text_.at(await.site));
    if (!await.wake_ns) arguments.member("\"wake\":\"unknown\"");
    if (!await.resume_ns) arguments.member("\"resumed\":false");
    if (await.clipped) arguments.member("\"clipped\":true");
    out_.raw("}}");
    write_queued(*where, await, what);
    ++totals_.awaits;
}

/// The part of an await after its wake. It is written before its turn: nothing else nests in an
/// await.
void chrome_events::write_queued(const place& where, const await_info& await, const span& whole) {
    if (!await.wake_ns || *await.wake_ns < whole.start_ns || *await.wake_ns >= whole.end_ns) return;
    open_complete(where, {*await.wake_ns, whole.end_ns}, "\"name\":\"queued\"",
                  ",\"cat\":\"queued\"");
    out_.raw("}}");
}

/// A scope that moved between threads outside every task has no lane: it is an asynchronous event.
void chrome_events::write_apart(const event& scope, const span& what) {
    ++apart_;
    const auto write_head = [&](std::string_view phase, std::int64_t time_ns) {
        separate();
        out_.raw(heads_[0]).integer(thread_lane(scope.thread)).raw(phase).id(apart_);
        out_.raw("},\"ts\":").microseconds(time_ns).raw(",");
        out_.raw(text_.event_name(scope.name)).raw(text_.category(scope.site)).raw(",\"args\":{");
    };
    write_head(",\"ph\":\"b\",\"id2\":{\"local\":", what.start_ns);
    write_scope_arguments(scope);
    out_.raw("}}");
    write_head(",\"ph\":\"e\",\"id2\":{\"local\":", what.end_ns);
    out_.raw("}}");
    ++totals_.scopes;
}

void chrome_events::write_scope_arguments(const event& scope) {
    argument_list arguments(out_);
    write_task_id(arguments, "\"task\":", scope.task);
    arguments.member(text_.at(scope.site));
    if ((scope.flags & event_clipped) != 0) arguments.member("\"clipped\":true");
    if ((scope.flags & event_abandoned) != 0) arguments.member("\"abandoned\":true");
    if (scope.detail >= from_.details.size()) return;
    const event_detail& detail = from_.details[scope.detail];
    if ((scope.flags & event_suspension_unknown) != 0) {
        arguments.member("\"suspension\":\"unknown\"");
    } else if (may_have_moved(scope)) {
        write_split(arguments, detail.time);
    }
    if (detail.arguments >= from_.strings.size()) return;
    std::string text = "\"arguments\":";
    append_json_string(text, from_.strings[detail.arguments]);
    arguments.member(text);
}

void chrome_events::write_split(argument_list& arguments, const time_split& time) const {
    arguments.integer("\"running_ns\":", time.running_ns);
    arguments.integer("\"suspended_ns\":", time.suspended_ns);
    arguments.integer("\"queued_ns\":", time.queued_ns);
    arguments.integer("\"waiting_ns\":", time.waiting_ns);
}

void chrome_events::write_task_id(argument_list& arguments, std::string_view key,
                                  std::uint32_t task) const {
    if (task < from_.tasks.size())
        arguments.integer(key, static_cast<std::int64_t>(from_.tasks[task].id));
}

std::optional<chrome_events::place> chrome_events::place_on_thread(std::uint32_t thread,
                                                                   const span& what) {
    const std::uint32_t tid = thread_lane(thread);
    if (thread_lanes_[tid - 1].place(what)) return place{process::threads, tid};
    return place_beside(process::threads, tid, what, inside::open);
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

std::optional<chrome_events::place> chrome_events::place_beside(process in, std::uint32_t owner,
                                                                const span& what, inside room) {
    side_lanes& beside = beside_[static_cast<std::size_t>(in)];
    const std::uint32_t before = beside.count();
    const std::optional<std::uint32_t> taken = beside.place(owner, what, room);
    if (!taken) return std::nullopt;
    const place where{in, first_side_tid + *taken};
    if (*taken == before) name_lane(where, "overlapping " + std::to_string(*taken + 1), where.tid);
    return where;
}

/// Logical ids, not the system's: those may name two threads, one after the other.
std::uint32_t chrome_events::thread_lane(std::uint32_t thread) const {
    const auto threads = static_cast<std::uint32_t>(from_.threads.size());
    return (thread < threads ? thread : threads) + 1;
}

void chrome_events::open_complete(const place& where, const span& what, std::string_view name,
                                  std::string_view category) {
    separate();
    out_.raw(heads_[static_cast<std::size_t>(where.in)]).integer(where.tid);
    out_.raw(",\"ph\":\"X\",\"ts\":").microseconds(what.start_ns);
    out_.raw(",\"dur\":").microseconds(what.end_ns - what.start_ns).raw(",");
    out_.raw(name).raw(category).raw(",\"args\":{");
}

}  // namespace coroscope::analysis::render
