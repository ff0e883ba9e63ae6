// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/events_of.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <coroscope/analysis/build_tree.hpp>
#include <coroscope/analysis/flops.hpp>
#include <coroscope/analysis/function_event.hpp>
#include <coroscope/trace/format.hpp>

#include "../words/health.hpp"
#include "native_devices.hpp"
#include "native_notes.hpp"

namespace coroscope::analysis {
namespace {

class converter {
public:
    converter(const trace& from, event_list& to)
        : from_(from),
          to_(to),
          notes_(from, to, lanes_),
          devices_(from, to, lanes_),
          names_(from.strings.size(), none) {}

    void add_threads() {
        const std::string process = std::to_string(from_.process_id);
        for (const thread_info& each : from_.threads) {
            const std::uint32_t lane = to_.lane(process, std::to_string(each.id), from_.node_id);
            lanes_.push_back(lane);
            to_.threads[lane].name = each.name;
            to_.threads[lane].process_name = from_.process_name;
        }
    }

    void add(std::uint32_t index) {
        const event& each = from_.events[index];
        event_row row;
        row.start_ns = each.start_ns;
        row.end_ns = each.end_ns;
        row.name = name_of(each.name);
        row.thread = lane_of(each.thread);
        row.what = each.site == none ? activity::user_annotation : activity::cpu_op;
        notes_.add(each, row);
        row.category = category_of(each, row.what);
        row.external_id = devices_.external_id(index);
        if ((each.flags & (event_async | event_suspension_unknown)) != 0) row.flags |= row_async;
        if ((each.flags & event_suspension_unknown) != 0) row.flags |= row_suspension_unknown;
        if ((each.flags & event_open) != 0) row.flags |= row_unfinished;
        if (each.detail != none) add_detail(row, from_.details[each.detail]);
        to_.rows.push_back(row);
    }

    void add_beside() {
        notes_.add_memory();
        devices_.add();
    }

private:
    void add_detail(event_row& row, const event_detail& detail) {
        event_extra& extra = to_.extra_of(row);
        extra.split = detail.time;
        extra.end_thread = lane_of(detail.end_thread);
        if (detail.arguments < from_.strings.size())
            extra.metadata = to_.intern(from_.strings[detail.arguments]);
    }

    std::uint32_t name_of(std::uint32_t string) {
        if (string >= names_.size()) return to_.intern({});
        if (names_[string] == none) names_[string] = to_.intern(from_.strings[string]);
        return names_[string];
    }
    [[nodiscard]] std::uint32_t lane_of(std::uint32_t thread) const {
        return thread < lanes_.size() ? lanes_[thread] : none;
    }
    std::uint32_t category_of(const event& each, activity what) {
        if (each.site < from_.sites.size() && !from_.sites[each.site].category.empty())
            return to_.intern(from_.sites[each.site].category);
        return to_.intern(activity_name(what));
    }

    const trace& from_;
    event_list& to_;
    native_notes notes_;
    native_devices devices_;
    std::vector<std::uint32_t> names_;  // of the trace's strings
    std::vector<std::uint32_t> lanes_;  // of the trace's threads
};

}  // namespace

event_list events_of(const trace& loaded) {
    event_list events;
    events.base_realtime_ns = loaded.start_realtime_ns;
    events.duration_ns = loaded.duration_ns;
    events.health = loaded.health;
    events.device_note = device_note(loaded.health);
    events.trace_id = loaded.trace_id;
    events.node = loaded.node_id;
    events.rows.reserve(loaded.events.size());
    converter to_events(loaded, events);
    to_events.add_threads();
    for (std::uint32_t at = 0; at < loaded.events.size(); ++at) to_events.add(at);
    to_events.add_beside();
    if ((loaded.asked_for & coroscope::trace::feature_flops) != 0)
        compute_flops(events, flops_registry::shipped());
    build_tree(events);
    return events;
}

}  // namespace coroscope::analysis
