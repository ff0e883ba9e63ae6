// SPDX-License-Identifier: Apache-2.0

// The lanes of devices: each device is a process, each of its streams a lane. Calls are on the
// threads that made them. Activities that overlap on a stream, as kernels of a graph do, are on a
// lane beside it.

#include <algorithm>

#include <coroscope/analysis/device_statistics.hpp>

#include "drawing.hpp"

namespace coroscope::analysis::inline timelines {
namespace {

using what_kind = coroscope::trace::device_activity;

kind_of_bar kind_of(what_kind what) {
    switch (what) {
        case what_kind::kernel: return kind_of_bar::kernel;
        case what_kind::copy: return kind_of_bar::copy;
        case what_kind::set: return kind_of_bar::set;
        case what_kind::runtime_call: return kind_of_bar::runtime_call;
        case what_kind::driver_call: return kind_of_bar::driver_call;
        case what_kind::synchronization: return kind_of_bar::synchronization;
        default: break;
    }
    return kind_of_bar::overhead;
}

}  // namespace

void drawing::draw_device_activity(std::uint32_t index) {
    const device_activity& activity = from_.device_activities[index];
    if (activity.what >= what_kind::allocated) return;  // memory: a time without a length or a lane
    const span what = span_of(activity);
    const std::optional<lane_ref> where = activity.thread < from_.threads.size()
                                              ? place_on_thread(activity.thread, what)
                                              : place_on_stream(activity, what);
    if (!where) {
        ++totals_.left_out;
        return;
    }
    bar& drawn = open(*where, what, names_.of_string(activity.name),
                      names_.category(kind_of(activity.what)));
    describe_device_activity(drawn, activity);
    if (flow_to_activity_[index]) drawn.flow_in = from_.slices.size() + index + 1;
    canvas_.draw(drawn);
    ++totals_.device_activities;
    if (!resumed_.empty()) draw_resumed(index, *where);
}

void drawing::describe_device_activity(bar& drawn, const device_activity& activity) const {
    add_task_id(drawn, argument::task, activity.task);
    if (activity.context != none) drawn.integer(argument::context, activity.context);
    if (activity.stream != none) drawn.integer(argument::stream, activity.stream);
    if (activity.correlation != 0) drawn.integer(argument::correlation, activity.correlation);
    if (activity.bytes != 0) drawn.integer(argument::bytes, activity.bytes);
    if (activity.queued_ns)
        drawn.integer(argument::queued_ns, activity.start_ns - *activity.queued_ns);
}

process drawing::process_of(const device_activity& activity) const {
    const auto at = std::min<std::size_t>(activity.device, from_.devices.size());
    return static_cast<process>(static_cast<std::size_t>(process::devices) + at);
}

drawing::stream_lane& drawing::lane_of_stream(const device_activity& activity) {
    const process in = process_of(activity);
    // Other activities get a lane apart, because they would overlap the stream's work.
    const std::uint32_t stream = is_device_work(activity.what) ? activity.stream : none;
    const auto [found, is_new] = streams_.try_emplace({in, activity.context, stream});
    if (!is_new) return found->second;
    const auto number = static_cast<std::uint32_t>(streams_.size() - 1);
    found->second = {{}, new_lane(in, number + 1), number};
    const std::string device =
        activity.device < from_.devices.size() ? from_.devices[activity.device].name : "devices";
    const auto [context, is_first] = contexts_.emplace(in, activity.context);
    if (is_first) canvas_.name_process(in, device, static_cast<std::uint32_t>(in));
    std::string name = device + " \xC2\xB7 " + stream_text(from_, activity.context, stream);
    if (context->second != activity.context)
        name += " (context " + std::to_string(activity.context) + ")";
    canvas_.name_lane(found->second.where, name, number);
    return found->second;
}

std::optional<lane_ref> drawing::place_on_stream(const device_activity& activity,
                                                 const span& what) {
    stream_lane& stream = lane_of_stream(activity);
    if (stream.spans.place(what, inside::closed)) return stream.where;
    return place_beside(stream.where.in, stream.number, what, inside::closed);
}

std::string drawing::awaited_text(std::uint32_t context, std::uint32_t stream) const {
    if (stream == none) return "a stream that is not known";
    return stream_text(from_, context, stream);
}

/// Adds the streams for which an await waited, and the part of its time in which they worked.
void drawing::add_awaited_streams(bar& drawn, std::uint32_t await) {
    const index_range waits = find_device_waits(from_, await);
    if (waits.empty() || from_.awaits[await].task >= from_.tasks.size()) return;
    text_.clear();
    for (const std::uint32_t each : waits)
        text_.append(text_.empty() ? "" : ", ")
            .append(
                awaited_text(from_.device_waits[each].context, from_.device_waits[each].stream));
    drawn.text(argument::waited_for, text_);
    const device_share share = coverage_.of(await);
    if (share.waits == 0) return;
    drawn.integer(argument::device_ns, share.covered_ns);
    if (share.queued_ns) drawn.integer(argument::device_queued_ns, *share.queued_ns);
}

void drawing::find_ranges() {
    for (std::uint32_t at = 0; at < from_.device_ranges.size(); ++at)
        ranges_.emplace(from_.device_ranges[at].event, at);
}

/// Adds the stream that ended a range, and the times of the range's work on it.
void drawing::add_range_on_device(bar& drawn, std::uint32_t event) {
    const auto found = ranges_.find(event);
    if (found == ranges_.end()) return;
    const device_range& range = from_.device_ranges[found->second];
    text_ = awaited_text(range.context, range.stream);
    drawn.text(argument::ended_by, text_);
    const device_share share = coverage_.of_range(found->second);
    if (!share.start_ns || !share.end_ns) return;
    drawn.integer(argument::device_start_ns, *share.start_ns);
    drawn.integer(argument::device_end_ns, *share.end_ns);
    drawn.integer(argument::device_ns, share.covered_ns);
    if (share.queued_ns) drawn.integer(argument::device_queued_ns, *share.queued_ns);
}

}  // namespace coroscope::analysis::inline timelines
