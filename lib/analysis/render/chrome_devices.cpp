// SPDX-License-Identifier: Apache-2.0

// The lanes of devices: each device is a process, each of its streams a lane. Calls stand on the threads that
// made them. What overlaps on a stream, as kernels of a graph do, stands on a lane beside it.

#include <algorithm>

#include <coroscope/analysis/device_statistics.hpp>

#include "chrome_events.hpp"
#include "utf8.hpp"

namespace coroscope::analysis::render {
namespace {

using what_kind = coroscope::trace::device_activity;

std::string_view category_of(what_kind what) {
    switch (what) {
        case what_kind::kernel: return ",\"cat\":\"kernel\"";
        case what_kind::copy: return ",\"cat\":\"copy\"";
        case what_kind::set: return ",\"cat\":\"set\"";
        case what_kind::runtime_call: return ",\"cat\":\"runtime_call\"";
        case what_kind::driver_call: return ",\"cat\":\"driver_call\"";
        case what_kind::synchronization: return ",\"cat\":\"synchronization\"";
        default: break;
    }
    return ",\"cat\":\"overhead\"";
}

}  // namespace

void chrome_events::write_device_activity(std::uint32_t index) {
    const device_activity& activity = from_.device_activities[index];
    if (activity.what >= what_kind::allocated) return;  // a moment of the memory, which has no lane
    const span what = span_of(activity);
    const std::optional<place> where = activity.thread < from_.threads.size()
                                           ? place_on_thread(activity.thread, what)
                                           : place_on_stream(activity, what);
    if (!where) {
        ++totals_.left_out;
        return;
    }
    open_complete(*where, what, text_.event_name(activity.name), category_of(activity.what));
    write_device_arguments(activity);
    out_.raw("}");
    if (flow_to_activity_[index])
        out_.raw(",\"flow_in\":true,\"bind_id\":").id(from_.slices.size() + index + 1);
    out_.raw("}");
    ++totals_.device_activities;
    if (!resumed_.empty()) write_resumed(index, *where);
}

void chrome_events::write_device_arguments(const device_activity& activity) {
    argument_list arguments(out_);
    write_task_id(arguments, "\"task\":", activity.task);
    const auto number = [&arguments](std::string_view key, std::uint32_t value) {
        if (value != none) arguments.integer(key, value);
    };
    number("\"context\":", activity.context);
    number("\"stream\":", activity.stream);
    if (activity.correlation != 0) arguments.integer("\"correlation\":", activity.correlation);
    if (activity.bytes != 0) arguments.integer("\"bytes\":", activity.bytes);
    if (activity.queued_ns)
        arguments.integer("\"queued_ns\":", activity.start_ns - *activity.queued_ns);
}

chrome_events::process chrome_events::process_of(const device_activity& activity) const {
    const auto at = std::min<std::size_t>(activity.device, from_.devices.size());
    return static_cast<process>(static_cast<std::size_t>(process::devices) + at);
}

chrome_events::stream_lane& chrome_events::lane_of_stream(const device_activity& activity) {
    const process in = process_of(activity);
    const auto number = static_cast<std::uint32_t>(streams_.size());
    // What is no work of the stream would lie over what is.
    const std::uint32_t stream = is_device_work(activity.what) ? activity.stream : none;
    const auto [found, is_new] = streams_.try_emplace({in, activity.context, stream},
                                                      stream_lane{{}, {in, number + 1}, number});
    if (!is_new) return found->second;
    const std::string device =
        activity.device < from_.devices.size() ? from_.devices[activity.device].name : "devices";
    const auto [context, is_first] = contexts_.emplace(in, activity.context);
    if (is_first) name_process(in, device, static_cast<int>(in));
    std::string name = device + " \xC2\xB7 " + stream_text(from_, activity.context, stream);
    if (context->second != activity.context)
        name += " (context " + std::to_string(activity.context) + ")";
    name_lane(found->second.where, name, number);
    return found->second;
}

std::optional<chrome_events::place> chrome_events::place_on_stream(const device_activity& activity,
                                                                   const span& what) {
    stream_lane& stream = lane_of_stream(activity);
    if (stream.spans.place(what, inside::closed)) return stream.where;
    return place_beside(stream.where.in, stream.number, what, inside::closed);
}

std::string chrome_events::awaited_text(std::uint32_t context, std::uint32_t stream) const {
    if (stream == none) return "a stream that is not known";
    return stream_text(from_, context, stream);
}

/// What an await waited for, and how much of its time that explains.
void chrome_events::write_awaited_streams(argument_list& arguments, std::uint32_t await) {
    const index_range waits = find_device_waits(from_, await);
    if (waits.empty() || from_.awaits[await].task >= from_.tasks.size()) return;
    std::string streams;
    for (const std::uint32_t each : waits)
        streams.append(streams.empty() ? "" : ", ")
            .append(
                awaited_text(from_.device_waits[each].context, from_.device_waits[each].stream));
    std::string member = "\"waited_for\":";
    append_json_string(member, streams);
    arguments.member(member);
    const device_share share = coverage_.of(await);
    if (share.waits == 0) return;
    arguments.integer("\"device_ns\":", share.covered_ns);
    if (share.queued_ns) arguments.integer("\"device_queued_ns\":", *share.queued_ns);
}

void chrome_events::find_ranges() {
    for (std::uint32_t at = 0; at < from_.device_ranges.size(); ++at)
        ranges_.emplace(from_.device_ranges[at].event, at);
}

/// What a range asked the stream to do that ended it.
void chrome_events::write_range_on_device(argument_list& arguments, std::uint32_t event) {
    const auto found = ranges_.find(event);
    if (found == ranges_.end()) return;
    const device_range& range = from_.device_ranges[found->second];
    std::string member = "\"ended_by\":";
    append_json_string(member, awaited_text(range.context, range.stream));
    arguments.member(member);
    const device_share share = coverage_.of_range(found->second);
    if (!share.start_ns || !share.end_ns) return;
    arguments.integer("\"device_start_ns\":", *share.start_ns);
    arguments.integer("\"device_end_ns\":", *share.end_ns);
    arguments.integer("\"device_ns\":", share.covered_ns);
    if (share.queued_ns) arguments.integer("\"device_queued_ns\":", *share.queued_ns);
}

/// From a call to what it asked for.
void chrome_events::write_launch(std::uint32_t index) {
    const device_activity& activity = from_.device_activities[index];
    if (!is_device_work(activity.what) || activity.call >= from_.device_activities.size()) return;
    const device_activity& call = from_.device_activities[activity.call];
    if (call.thread >= from_.threads.size()) return;
    flow_to_activity_[index] =
        write_flow_mark({process::threads, thread_tids_[call.thread]}, span_of(call).start_ns,
                        span_of(activity).start_ns, activity.task, from_.slices.size() + index + 1,
                        "\"name\":\"launch\"");
}

/// Of each await that ended, what its streams did last before: the last one of them resumed it.
void chrome_events::find_resumed() {
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

/// A stream does one thing after the other, so this is among the last few that began.
std::uint32_t chrome_events::last_of(const device_wait& wait, std::int64_t resume_ns) const {
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

/// The first slice of the task that began no earlier.
std::uint32_t chrome_events::slice_from(std::uint32_t task, std::int64_t time_ns) const {
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

/// From the end of what a task waited for to the slice in which it went on. A slice's own arrow is that of its
/// wake, so this one leads to a mark at its beginning.
void chrome_events::write_resumed(std::uint32_t index, const place& where) {
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
        if (!write_flow_mark(where, std::max(ended.start_ns, ended.end_ns - 1), resumed_ns,
                             await.task, id, "\"name\":\"awaited\""))
            continue;
        std::string name = "\"name\":";
        append_json_string(name, "after " + stream_text(from_, wait.context, wait.stream));
        open_complete({process::threads, thread_tids_[resumed.thread]}, {resumed_ns, resumed_ns},
                      name, ",\"cat\":\"flow\"");
        out_.raw("},\"flow_in\":true,\"bind_id\":").id(id).raw("}");
    }
}

}  // namespace coroscope::analysis::render
