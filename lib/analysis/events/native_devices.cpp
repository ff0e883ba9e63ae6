// SPDX-License-Identifier: Apache-2.0
#include "native_devices.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>

#include <coroscope/analysis/device_statistics.hpp>
#include <coroscope/analysis/memory_records.hpp>

#include "../model/bounded.hpp"

namespace coroscope::analysis::inline events {

using what_kind = coroscope::trace::device_activity;

namespace {

struct torch_kind {
    activity what;
    std::string_view category;
    device_kind device;
};

/// Returns torch's kind of an activity. Must not be called for memory.
torch_kind kind_of(what_kind what) {
    switch (what) {
        case what_kind::kernel: return {activity::kernel, "kernel", device_kind::cuda};
        case what_kind::copy: return {activity::gpu_memcpy, "gpu_memcpy", device_kind::cuda};
        case what_kind::set: return {activity::gpu_memset, "gpu_memset", device_kind::cuda};
        case what_kind::runtime_call: return {activity::runtime, "cuda_runtime", device_kind::cpu};
        case what_kind::driver_call: return {activity::runtime, "cuda_driver", device_kind::cpu};
        case what_kind::synchronization:
            return {activity::synchronization, "cuda_sync", device_kind::cpu};
        default: break;
    }
    return {activity::overhead, "overhead", device_kind::cpu};
}

bool is_memory(what_kind what) {
    return what == what_kind::allocated || what == what_kind::released;
}

/// Activities that are no work of the stream would overlap its work.
std::uint32_t stream_of(const device_activity& each) {
    return is_device_work(each.what) ? each.stream : none;
}

}  // namespace

native_devices::native_devices(const trace& from, event_list& to,
                               const std::vector<std::uint32_t>& lanes)
    : from_(from), to_(to), lanes_(lanes) {
    if (from.health.devices == coroscope::trace::device_recording::recorded ||
        !from.device_activities.empty())
        to.use_device = "cuda";
    for (const device_activity& each : from.device_activities) {
        if (each.event >= from.events.size()) continue;
        if (launches_.empty()) launches_.resize(from.events.size());
        launches_[each.event] = true;
    }
}

void native_devices::add() {
    if (from_.device_activities.empty()) return;
    number_calls();
    to_.rows.reserve(to_.rows.size() + from_.device_activities.size());
    for (std::uint32_t at = 0; at < from_.device_activities.size(); ++at) {
        const device_activity& each = from_.device_activities[at];
        if (is_memory(each.what))
            add_memory(each);
        else
            add_row(each, at);
    }
    to_.memory = by_time(to_.memory);
}

/// An event list links calls and activities only by correlation number. If a number was reused,
/// only its first call keeps it, and later calls get unused numbers.
void native_devices::number_calls() {
    numbers_.resize(from_.device_activities.size());
    std::unordered_set<std::uint32_t> taken;
    std::vector<std::uint32_t> again;
    for (std::uint32_t at = 0; at < numbers_.size(); ++at) {
        const device_activity& each = from_.device_activities[at];
        if (!is_call(each.what) || each.correlation == 0) continue;
        if (taken.insert(each.correlation).second)
            numbers_[at] = each.correlation;
        else
            again.push_back(at);
    }
    std::uint32_t free = 1;
    for (const std::uint32_t at : again) {
        while (taken.contains(free)) ++free;
        numbers_[at] = free++;
    }
}

void native_devices::add_row(const device_activity& each, std::uint32_t index) {
    const torch_kind kind = kind_of(each.what);
    event_row row;
    row.start_ns = each.start_ns;
    row.end_ns = each.end_ns;
    row.name = to_.intern(each.name < from_.strings.size() ? from_.strings[each.name] : "");
    row.category = to_.intern(kind.category);
    row.what = kind.what;
    row.device = kind.device;
    row.external_id = external_id(each.event);
    row.correlation = is_call(each.what)            ? numbers_[index]
                      : each.call < numbers_.size() ? numbers_[each.call]
                                                    : 0;
    const std::uint32_t thread = thread_lane(each);
    row.thread = thread != none ? thread : stream_lane(each);
    if (each.device != none || each.stream != none) {
        event_extra& extra = to_.extra_of(row);
        extra.device_index = device_index(each);
        if (each.stream != none) extra.device_resource = each.stream;
    }
    to_.rows.push_back(row);
}

void native_devices::add_memory(const device_activity& each) {
    memory_record record;
    record.time_ns = each.start_ns;
    record.bytes = each.what == what_kind::released ? -each.bytes : each.bytes;
    record.address = each.address;
    std::int64_t& allocated = allocated_[each.device];
    add_to(allocated, record.bytes);
    record.total_allocated = record.total_reserved = allocated;
    record.device = device_kind::cuda;
    record.device_index = device_index(each);
    record.thread = thread_lane(each);
    to_.memory.push_back(record);
}

std::uint32_t native_devices::thread_lane(const device_activity& each) const {
    return each.thread < lanes_.size() ? lanes_[each.thread] : none;
}

std::uint32_t native_devices::stream_lane(const device_activity& each) {
    contexts_.emplace(each.device, each.context);
    stream_lanes& stream = streams_[{each.device, each.context, stream_of(each)}];
    constexpr std::size_t most = 256;
    const span what{each.start_ns, each.end_ns};
    std::size_t at = 0;
    while (at < stream.spans.size() && !stream.spans[at].place(what, inside::closed)) ++at;
    if (at == stream.spans.size() && at < most) {
        stream.spans.emplace_back().place(what, inside::closed);
        stream.lanes.push_back(make_lane(each, at));
    }
    return stream.lanes[std::min(at, stream.lanes.size() - 1)];
}

std::uint32_t native_devices::make_lane(const device_activity& each, std::size_t beside) {
    const std::int32_t device = device_index(each);
    const bool has_stream = stream_of(each) != none;
    std::string stream = has_stream ? std::to_string(each.stream) : "no stream";
    if (each.context != contexts_[each.device])
        stream += " (context " + std::to_string(each.context) + ")";
    if (beside != 0) stream += " (overlapping " + std::to_string(beside) + ")";
    const std::string process = device < 0 ? "devices" : "device " + std::to_string(device);
    const std::uint32_t lane = to_.lane(process, stream, from_.node_id);
    event_thread& named = to_.threads[lane];
    named.name = has_stream ? "stream " + stream : stream;
    if (const std::string_view own = stream_name(from_, each.context, each.stream); !own.empty())
        named.name.append(" (").append(own).append(")");
    named.process_name = each.device < from_.devices.size() ? from_.devices[each.device].name : "";
    return lane;
}

std::int32_t native_devices::device_index(const device_activity& each) const {
    constexpr std::uint32_t most = INT32_MAX;
    if (each.device >= from_.devices.size() || from_.devices[each.device].id > most) return -1;
    return static_cast<std::int32_t>(from_.devices[each.device].id);
}

}  // namespace coroscope::analysis::inline events
