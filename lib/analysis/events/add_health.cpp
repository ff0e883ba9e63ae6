// SPDX-License-Identifier: Apache-2.0
#include "add_health.hpp"

#include <algorithm>
#include <string>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline events {
namespace {

void add_counters(trace_health& all, const trace_health& more) {
    all.dropped_newest += more.dropped_newest;
    all.overwritten += more.overwritten;
    all.late_records += more.late_records;
    all.tasks_without_slot += more.tasks_without_slot;
    all.open_ranges += more.open_ranges;
    all.open_scopes += more.open_scopes;
    all.unnamed_scopes += more.unnamed_scopes;
    all.cut_texts += more.cut_texts;
    all.attributes_without_room += more.attributes_without_room;
    all.places_without_room += more.places_without_room;
    all.unseen_wakes += more.unseen_wakes;
    all.left_out_requests += more.left_out_requests;
    all.damaged_chunks += more.damaged_chunks;
    all.lost_device_records += more.lost_device_records;
}

// A feature has data if one of the traces has data of it.
void add_features(trace_health& all, const trace_health& more) {
    all.with_data |= more.with_data;
    all.without_data = (all.without_data | more.without_data) & ~all.with_data;
}

void add_folded(trace_health& all, const trace_health& more) {
    all.folded_tasks += more.folded_tasks;
    add_to(all.folded_running_ns, more.folded_running_ns);
    add_to(all.folded_queued_ns, more.folded_queued_ns);
    add_to(all.folded_waiting_ns, more.folded_waiting_ns);
    for (const std::string& each : more.folded_by)
        if (std::ranges::find(all.folded_by, each) == all.folded_by.end())
            all.folded_by.push_back(each);
}

// The versions are taken from the same trace as the state.
void add_asio(trace_health& all, const trace_health& more) {
    const bool knows_version = all.asio_version != 0 || all.boost_asio_version != 0;
    if (more.asio < all.asio || (more.asio == all.asio && knows_version)) return;
    all.asio = more.asio;
    all.asio_version = more.asio_version;
    all.boost_asio_version = more.boost_asio_version;
}

void add_devices(trace_health& all, const trace_health& more) {
    all.devices = std::max(all.devices, more.devices);
    if (all.device_message.empty()) all.device_message = more.device_message;
}

// The parts of several traces are one part, from the first border to the last.
void add_part(trace_part& all, const trace_part& more) {
    if (!more.any()) return;
    if (!all.any()) {
        all = more;
        return;
    }
    if (more.is_stretch) {
        all.from_ns = all.is_stretch ? std::min(all.from_ns, more.from_ns) : more.from_ns;
        all.to_ns = std::max(all.to_ns, more.to_ns);
        all.whole_ns = std::max(all.whole_ns, more.whole_ns);
    }
    all.is_stretch = all.is_stretch || more.is_stretch;
    all.cut_scopes += more.cut_scopes;
    all.cut_tasks += more.cut_tasks;
    all.cut_requests += more.cut_requests;
    if (all.where.empty()) all.where = more.where;
    all.requests_only = all.requests_only || more.requests_only;
}

}  // namespace

void add_health(trace_health& all, const trace_health& more) {
    const bool nobody_died =
        (all.finished || all.being_recorded) && (more.finished || more.being_recorded);
    all.finished = all.finished && more.finished;
    all.being_recorded = nobody_died && !all.finished;
    all.open_scopes_unknown = all.open_scopes_unknown || more.open_scopes_unknown;
    all.partial = all.partial || more.partial;
    if (all.write_error == 0) all.write_error = more.write_error;
    if (all.crash_report != more.crash_report) all.crash_report += more.crash_report;
    all.warnings.insert(all.warnings.end(), more.warnings.begin(), more.warnings.end());
    add_counters(all, more);
    add_features(all, more);
    add_folded(all, more);
    add_asio(all, more);
    add_devices(all, more);
    add_part(all.part, more.part);
}

}  // namespace coroscope::analysis::inline events
