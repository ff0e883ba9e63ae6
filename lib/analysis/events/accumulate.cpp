// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/accumulate.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "../model/bounded.hpp"
#include "add_health.hpp"

namespace coroscope::analysis {
namespace {

class adder {
public:
    adder(event_list& all, const event_list& more)
        : all_(all),
          more_(more),
          shift_ns_(saturated_difference(more.base_realtime_ns, all.base_realtime_ns)),
          first_row_(index_of(all.rows.size())),
          first_extra_(index_of(all.extras.size())),
          first_sums_(index_of(all.sums.size())),
          texts_(more.text_count(), none) {
        index_of(all.rows.size() + more.rows.size());
    }

    void add_lanes() {
        for (const event_thread& each : more_.threads) {
            lanes_.push_back(
                all_.lane(more_.text(each.process), more_.text(each.thread), each.node_id));
            event_thread& lane = all_.threads[lanes_.back()];
            if (lane.name.empty()) lane.name = each.name;
            if (lane.process_name.empty()) lane.process_name = each.process_name;
        }
    }

    void add_rows() {
        all_.rows.reserve(all_.rows.size() + more_.rows.size());
        for (event_row row : more_.rows) {
            row.start_ns = shifted(row.start_ns);
            row.end_ns = shifted(row.end_ns);
            row.name = text(row.name);
            row.category = text(row.category);
            row.thread = lane(row.thread);
            row.parent = moved(row.parent, first_row_);
            row.extra = moved(row.extra, first_extra_);
            row.sums = moved(row.sums, first_sums_);
            all_.rows.push_back(row);
        }
        all_.sums.insert(all_.sums.end(), more_.sums.begin(), more_.sums.end());
    }

    void add_extras() {
        for (event_extra extra : more_.extras) {
            for (std::uint32_t* each :
                 {&extra.trace_name, &extra.overload_name, &extra.input_shapes,
                  &extra.input_strides, &extra.input_dtypes, &extra.concrete_inputs,
                  &extra.keyword_inputs, &extra.stack, &extra.modules, &extra.metadata,
                  &extra.members})
                *each = text(*each);
            extra.end_thread = lane(extra.end_thread);
            all_.extras.push_back(extra);
        }
    }

    void add_beside() {
        for (memory_record each : more_.memory) {
            each.time_ns = shifted(each.time_ns);
            each.thread = lane(each.thread);
            all_.memory.push_back(each);
        }
        for (event_flow each : more_.flows) {
            each.time_ns = shifted(each.time_ns);
            each.category = text(each.category);
            each.name = text(each.name);
            each.thread = lane(each.thread);
            all_.flows.push_back(each);
        }
        for (event_metadata each : more_.metadata) {
            each.name = text(each.name);
            each.arguments = text(each.arguments);
            each.thread = lane(each.thread);
            all_.metadata.push_back(each);
        }
    }

    [[nodiscard]] std::int64_t shift_ns() const { return shift_ns_; }

private:
    [[nodiscard]] std::int64_t shifted(std::int64_t time_ns) const {
        return bounded(saturated_sum(time_ns, shift_ns_));
    }

    static std::uint32_t index_of(std::size_t size) {
        if (size >= none) throw std::length_error("more events than indices");
        return static_cast<std::uint32_t>(size);
    }
    static std::uint32_t moved(std::uint32_t index, std::uint32_t by) {
        return index == none ? none : index + by;
    }
    std::uint32_t text(std::uint32_t index) {
        if (index >= texts_.size()) return none;
        if (texts_[index] == none) texts_[index] = all_.intern(more_.text(index));
        return texts_[index];
    }
    [[nodiscard]] std::uint32_t lane(std::uint32_t index) const {
        return index < lanes_.size() ? lanes_[index] : none;
    }

    event_list& all_;
    const event_list& more_;
    std::int64_t shift_ns_;
    std::uint32_t first_row_, first_extra_, first_sums_;
    std::vector<std::uint32_t> texts_;  // of `more`, as texts of `all`
    std::vector<std::uint32_t> lanes_;
};

}  // namespace

void accumulate(event_list& all, const event_list& more) {
    if (all.empty() && all.threads.empty()) all.base_realtime_ns = more.base_realtime_ns;
    adder adding(all, more);
    adding.add_lanes();
    adding.add_rows();
    adding.add_extras();
    adding.add_beside();
    all.duration_ns = std::max(all.duration_ns, more.duration_ns + adding.shift_ns());
    all.shapes = all.shapes || more.shapes;
    all.stacks = all.stacks || more.stacks;
    all.memory_profile = all.memory_profile || more.memory_profile;
    all.flops = all.flops || more.flops;
    all.folded_events += more.folded_events;
    all.left_out_events += more.left_out_events;
    all.is_built = true;
    all.every_event_nests = all.every_event_nests || more.every_event_nests;
    if (all.use_device.empty()) all.use_device = more.use_device;
    if (all.device_note.empty()) all.device_note = more.device_note;
    add_health(all.health, more.health);
}

}  // namespace coroscope::analysis
