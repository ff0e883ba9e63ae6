// SPDX-License-Identifier: Apache-2.0
#include "device_records.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

namespace coroscope::analysis::inline records {

using coroscope::trace::device_body;
using coroscope::trace::record_view;
using device_kind_recorded = coroscope::trace::device_activity;

namespace {

static_assert(coroscope::trace::device_unknown == none, "what is not known of an activity is none");

bool is_known(device_kind_recorded what) {
    return what >= device_kind_recorded::kernel && what <= device_kind_recorded::dependency;
}

/// The name of an activity without a site.
std::string_view plain_name(device_kind_recorded what) {
    switch (what) {
        case device_kind_recorded::kernel: return "kernel";
        case device_kind_recorded::copy: return "copy";
        case device_kind_recorded::set: return "set";
        case device_kind_recorded::runtime_call: return "runtime call";
        case device_kind_recorded::driver_call: return "driver call";
        case device_kind_recorded::synchronization: return "synchronization";
        case device_kind_recorded::overhead: return "overhead";
        case device_kind_recorded::allocated: return "allocated";
        case device_kind_recorded::released:
        case device_kind_recorded::dependency: break;
    }
    return "released";
}

}  // namespace

std::int64_t device_reader::read(const record_view& record, metadata& names, clock_map& clock,
                                 trace& loaded) {
    device_body body;
    const std::size_t bytes = std::min<std::size_t>(record.value(), record.payload_bytes());
    if (bytes < sizeof(body)) {
        ++found_.malformed;
        return 0;
    }
    std::memcpy(&body, record.payload(), sizeof(body));
    if (!is_known(body.what)) {
        ++found_.malformed;
        return 0;
    }
    if (body.what == device_kind_recorded::dependency) {
        read_dependency(record, body, clock);
        return found_.dependencies.back().made.time_ns;
    }
    device_activity& added = loaded.device_activities.emplace_back();
    const std::uint64_t start_ticks = record.word(0);
    if (body.end_ticks < start_ticks) ++found_.backward;
    added.what = body.what;
    added.start_ns = clock.to_ns(start_ticks);
    added.end_ns = clock.to_ns(std::max(start_ticks, body.end_ticks));
    if (body.queued_ticks != 0 && body.queued_ticks <= start_ticks)
        added.queued_ns = clock.to_ns(body.queued_ticks);
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    added.bytes = static_cast<std::int64_t>(std::min(body.bytes, most));
    added.address = body.address;
    const std::uint32_t site = names.optional_site(record.id());
    added.name = site != none ? names.site_name(site) : names.intern(plain_name(body.what));
    if (body.device != none) added.device = names.device(body.device);
    added.context = body.context;
    added.stream = body.stream;
    added.correlation = body.correlation;
    if (body.task != 0) added.task = found_.tasks.insert(body.task);
    if (body.os_thread_id != 0) added.thread = found_.os_threads.insert(body.os_thread_id);
    return added.end_ns;
}

void device_reader::read_dependency(const record_view& record, const device_body& body,
                                    clock_map& clock) {
    dependency_record& added = found_.dependencies.emplace_back();
    added.made.time_ns = clock.to_ns(record.word(0));
    added.made.context = body.context;
    added.made.stream = body.stream;
    added.made.awaited_context = body.awaited_context;
    added.made.awaited_stream = body.awaited_stream;
    added.correlation = body.correlation;
    added.awaited_correlation = body.awaited_correlation;
}

void device_reader::read_wait(const record_view& record, clock_map& clock, trace& loaded) {
    using coroscope::trace::device_wait_kind;
    const std::int64_t time_ns = clock.to_ns(record.word(0));
    const auto context = static_cast<std::uint32_t>(record.word(3));
    const auto number = static_cast<std::uint32_t>(record.word(3) >> 32);
    const auto kind = static_cast<device_wait_kind>(record.value());
    if (kind > device_wait_kind::range) {
        ++found_.malformed;
        return;
    }
    if (kind == device_wait_kind::range) {
        const std::uint32_t thread = coroscope::trace::mark_thread(record.word(2));
        found_.ranges.push_back({time_ns, number, thread, context, record.id()});
        return;
    }
    device_wait& added = loaded.device_waits.emplace_back();
    added.time_ns = time_ns;
    added.stream = record.id();
    added.context = context;
    added.is_event = kind == device_wait_kind::event;
    if (added.is_event) added.correlation = number;
    if (record.word(2) != 0) added.task = found_.tasks.insert(record.word(2));
}

}  // namespace coroscope::analysis::inline records
