// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/averages.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "../events/attribute_values.hpp"
#include "device_times.hpp"

namespace coroscope::analysis {
namespace {

void add(function_event_avg& sum, const event& added, const trace& loaded) {
    const std::int64_t wall_ns = added.end_ns - added.start_ns;
    sum.min_wall_ns = sum.count == 0 ? wall_ns : std::min(sum.min_wall_ns, wall_ns);
    sum.max_wall_ns = std::max(sum.max_wall_ns, wall_ns);
    add_to(sum.wall_ns, wall_ns);
    ++sum.count;
    add_to(sum.self_cpu_time_total_ns, added.self_running_ns);
    if ((added.flags & event_in_frame) != 0) ++sum.in_frame_count;
    if ((added.flags & event_suspension_unknown) != 0) ++sum.unknown_count;
    if (added.detail == none) [[likely]] {
        add_to(sum.cpu_time_total_ns, wall_ns);
        return;
    }
    const time_split& time = loaded.details[added.detail].time;
    add_to(sum.cpu_time_total_ns, time.running_ns);
    add_to(sum.suspended_ns, time.suspended_ns);
    add_to(sum.queued_ns, time.queued_ns);
    add_to(sum.waiting_ns, time.waiting_ns);
}

void add(function_event_avg& sum, const device_times& devices, std::size_t added) {
    add_to(sum.device_time_total_ns, devices.total_ns(added));
    add_to(sum.self_device_time_total_ns, devices.own_ns(added));
}

struct row_key {
    std::string_view name;
    std::string_view category;
    std::string_view file;
    std::uint32_t line = 0;
    std::uint32_t group = none;
    bool operator==(const row_key&) const = default;
};

struct row_key_hash {
    std::size_t operator()(const row_key& key) const {
        const std::hash<std::string_view> hash;
        return hash(key.name) ^ (hash(key.category) * 31) ^ (hash(key.file) * 127) ^
               (key.line * std::size_t{8191}) ^ (key.group * std::size_t{131'071});
    }
};

// Events of one site nearly always make one row, so the row is looked up once per site and name; with
// attributes, each time that the site's events have another.
class row_table {
public:
    row_table(const trace& loaded, average_key key, std::string_view attribute)
        : loaded_(loaded),
          key_(key),
          group_(group_by(key)),
          sites_(loaded.sites.size()),
          values_(loaded, attribute),
          rows_of_sites_(sites_ + 1) {}

    /// Adds the event to its row, and gives that.
    function_event_avg& take(const event& added) {
        const std::size_t site = std::min<std::size_t>(added.site, sites_);
        const std::uint32_t group = group_ == nullptr ? none : added.*group_;
        site_row& found = rows_of_sites_[site];
        if (found.name != added.name || found.group != group) [[unlikely]]
            found = find_row(site, group, added);
        add(rows_[found.row], added, loaded_);
        return rows_[found.row];
    }

    std::vector<function_event_avg> rows() { return std::move(rows_); }

private:
    // The row of a site's events that have this name, and these attributes, task or thread.
    struct site_row {
        std::size_t row = 0;
        std::uint32_t name = none;
        std::uint32_t group = none;
    };

    using event_index = std::uint32_t event::*;

    // By which of its indices an event is told from others of its name; null: by none.
    static event_index group_by(average_key key) {
        switch (key) {
            case average_key::attribute: return &event::attribute;
            case average_key::task: return &event::task;
            case average_key::thread: return &event::thread;
            case average_key::name:
            case average_key::source_line: break;
        }
        return nullptr;
    }

    site_row find_row(std::size_t site, std::uint32_t group, const event& added) {
        row_key key{loaded_.strings[added.name], {}, {}, 0, group};
        if (key_ == average_key::attribute && group != none) key.group = values_.of(group);
        if (site < sites_) {
            const site_info& info = loaded_.sites[site];
            key.category = info.category;
            if (key_ == average_key::source_line) {
                key.file = info.file;
                key.line = info.line;
            }
        }
        const auto [place, is_new] = known_.try_emplace(key, rows_.size());
        if (is_new) {
            function_event_avg& row = rows_.emplace_back();
            row.name = key.name;
            row.category = key.category;
            row.group = key.group;
            row.site = added.site;
            row.has_parent = added.parent != none;
        }
        return {place->second, added.name, group};
    }

    const trace& loaded_;
    average_key key_;
    event_index group_;
    std::size_t sites_;
    events::attribute_values values_;
    std::vector<function_event_avg> rows_;
    std::unordered_map<row_key, std::size_t, row_key_hash> known_;
    std::vector<site_row> rows_of_sites_;  // the last entry is for events without a site
};

}  // namespace

std::vector<function_event_avg> key_averages(const trace& loaded, average_key key,
                                             std::string_view attribute) {
    row_table table(loaded, key, attribute);
    const device_times devices(loaded);
    const bool any_devices = devices.any();
    std::size_t at = 0;
    for (const event& each : loaded.events) {
        function_event_avg& row = table.take(each);
        if (any_devices) [[unlikely]]
            add(row, devices, at);
        ++at;
    }
    return table.rows();
}

function_event_avg total_average(const trace& loaded) {
    function_event_avg total;
    total.name = "Total";
    for (const event& added : loaded.events) add(total, added, loaded);
    const device_times devices(loaded);
    for (std::size_t at = 0; devices.any() && at < loaded.events.size(); ++at)
        add(total, devices, at);
    return total;
}

}  // namespace coroscope::analysis
