// SPDX-License-Identifier: Apache-2.0
#include "link_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <coroscope/analysis/memory_records.hpp>

#include "../answer/selection.hpp"
#include "../model/bounded.hpp"
#include "order_rows.hpp"

namespace coroscope::analysis::inline events {
namespace {

/// The records of one thread, and whether each is in an event that has a row in the averages.
struct lane_memory {
    mem_records_acc records;
    std::vector<bool> matched;
    std::uint32_t next = 0;           // the first record later than all events so far
    std::int64_t covered_to_ns = -1;  // the latest end of an event so far
    bool is_covered = false;
};

std::vector<lane_memory> split_by_lane(const event_list& list) {
    std::vector<std::vector<memory_record>> records(list.threads.size() + 1);
    for (const memory_record& each : list.memory)
        records[std::min<std::size_t>(each.thread, list.threads.size())].push_back(each);
    std::vector<lane_memory> lanes;
    lanes.reserve(records.size());
    for (const auto& each : records) {
        const std::size_t count = each.size();
        lanes.push_back({mem_records_acc(each), std::vector<bool>(count)});
    }
    return lanes;
}

/// Marks the records before a moment that lie in an event that has begun and is a row of averages.
void mark_until(lane_memory& lane, std::int64_t start_ns) {
    for (; lane.next < lane.records.size() && lane.records[lane.next].time_ns < start_ns;
         ++lane.next)
        lane.matched[lane.next] =
            lane.is_covered && lane.records[lane.next].time_ns <= lane.covered_to_ns;
}

void take(event_list& list, lane_memory& lane, event_row& row) {
    if (is_cpu_row(row, list.every_event_nests)) {
        mark_until(lane, row.start_ns);
        lane.covered_to_ns =
            lane.is_covered ? std::max(lane.covered_to_ns, row.end_ns) : row.end_ns;
        lane.is_covered = true;
    }
    const index_range inside = lane.records.in_interval(row.start_ns, row.end_ns);
    if (inside.empty()) return;
    event_sums& sums = list.sums_of(row);
    add_to(sums.cpu_memory, lane.records.bytes(inside, device_kind::cpu));
    add_to(sums.device_memory, lane.records.bytes(inside, device_kind::cuda));
}

void add_row(event_list& list, const memory_record& record, std::string_view name) {
    event_row& row = list.rows.emplace_back();
    row.start_ns = row.end_ns = bounded(record.time_ns);
    row.name = list.intern(name);
    row.category = list.intern("cpu_instant_event");
    row.thread = record.thread;
    row.what = activity::memory;
    row.device = record.device;
    if (record.device_index >= 0) list.extra_of(row).device_index = record.device_index;
    if (record.out_of_memory) return;
    event_sums& sums = list.sums_of(row);
    (record.device == device_kind::cpu ? sums.cpu_memory : sums.device_memory) = record.bytes;
}

}  // namespace

void link_memory(event_list& list) {
    if (list.memory.empty()) return;
    std::vector<lane_memory> lanes = split_by_lane(list);
    for (event_row& row : list.rows) {
        if (row.device != device_kind::cpu || (row.flags & row_hidden) != 0) continue;
        take(list, lanes[std::min<std::size_t>(row.thread, list.threads.size())], row);
    }
    for (lane_memory& lane : lanes) {
        mark_until(lane, INT64_MAX);
        for (std::uint32_t at = 0; at < lane.records.size(); ++at) {
            if (lane.records[at].out_of_memory)
                add_row(list, lane.records[at], "[OutOfMemory]");
            else if (!lane.matched[at])
                add_row(list, lane.records[at], "[memory]");
        }
    }
    order_rows(list);
}

}  // namespace coroscope::analysis::inline events
