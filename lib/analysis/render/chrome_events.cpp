// SPDX-License-Identifier: Apache-2.0
#include "chrome_events.hpp"

#include <algorithm>
#include <unordered_set>

#include "utf8.hpp"

namespace coroscope::analysis::render {
namespace {

// Ids that no real thread has: those end at 2^22, and viewers ask for tids below 2^32.
constexpr std::uint32_t first_spare_tid = 1U << 29;
constexpr std::uint32_t first_side_tid = 1U << 30;

/// Whether the scope may have left its thread, or let others run there, while it was open.
bool may_have_moved(const event& scope) {
    return scope.detail != none &&
           (scope.flags & (event_in_frame | event_async | event_await)) != 0;
}

/// Of each thread the system's id. A second thread of that id, and what names no thread, have ids
/// of their own: a viewer would take two threads of one id for one.
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

chrome_events::chrome_events(const trace& from, const byte_sink& sink)
    : from_(from),
      out_(sink),
      text_(from),
      thread_lanes_(from.threads.size() + 1),
      thread_tids_(tids_of(from.threads)),
      lane_of_task_(from.tasks.size(), none),
      lanes_of_site_(from.sites.size() + 1),
      beside_(static_cast<std::size_t>(process::devices) + from.devices.size() + 1),
      flow_to_slice_(from.slices.size()),
      flow_to_activity_(from.device_activities.size()),
      coverage_(from) {
    const auto head_of = [](std::uint32_t pid) {
        return "{\"pid\":" + std::to_string(pid) + ",\"tid\":";
    };
    heads_.push_back(head_of(from.process_id));
    // Viewers show the id beside the name, so the tasks and the devices have short ones.
    for (std::uint32_t pid = 1; heads_.size() < beside_.size(); ++pid)
        if (pid != from.process_id) heads_.push_back(head_of(pid));
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
    if (moved && scope.task >= from_.tasks.size()) return write_apart(index, what);
    const std::optional<place> where =
        moved ? place_on_task(scope.task, what, inside::open) : place_on_thread(scope.thread, what);
    if (!where) {
        ++totals_.left_out;
        return;
    }
    open_complete(*where, what, name_of(scope), text_.category(scope.site));
    write_scope_arguments(index);
    out_.raw("}}");
    ++totals_.scopes;
}

std::string_view chrome_events::name_of(const event& scope) {
    return (scope.flags & event_await) != 0 ? text_.await_event_name(scope.name)
                                            : text_.event_name(scope.name);
}

/// A scope that moved between threads outside every task has no lane: it is an asynchronous event.
void chrome_events::write_apart(std::uint32_t index, const span& what) {
    const event& scope = from_.events[index];
    ++apart_;
    const auto write_head = [&](std::string_view phase, std::int64_t time_ns) {
        separate();
        out_.raw(heads_[0]).integer(thread_tids_[thread_at(scope.thread)]).raw(phase).id(apart_);
        out_.raw("},\"ts\":").microseconds(time_ns).raw(",");
        out_.raw(name_of(scope)).raw(text_.category(scope.site)).raw(",\"args\":{");
    };
    write_head(",\"ph\":\"b\",\"id2\":{\"local\":", what.start_ns);
    write_scope_arguments(index);
    out_.raw("}}");
    write_head(",\"ph\":\"e\",\"id2\":{\"local\":", what.end_ns);
    out_.raw("}}");
    ++totals_.scopes;
}

void chrome_events::write_scope_arguments(std::uint32_t index) {
    const event& scope = from_.events[index];
    argument_list arguments(out_);
    write_task_id(arguments, "\"task\":", scope.task);
    arguments.member(text_.at(scope.site));
    if ((scope.flags & event_clipped) != 0) arguments.member("\"clipped\":true");
    if ((scope.flags & event_abandoned) != 0) arguments.member("\"abandoned\":true");
    if ((scope.flags & event_open) != 0) arguments.member("\"open\":true");
    if (!ranges_.empty()) write_range_on_device(arguments, index);
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
    const std::uint32_t at = thread_at(thread);
    if (thread_lanes_[at].place(what)) return place{process::threads, thread_tids_[at]};
    return place_beside(process::threads, at, what, inside::open);
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

/// The thread's place among the lanes: the last is of what names no thread.
std::uint32_t chrome_events::thread_at(std::uint32_t thread) const {
    return std::min(thread, static_cast<std::uint32_t>(from_.threads.size()));
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
