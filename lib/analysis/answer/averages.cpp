// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/averages.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "../model/attribute_values.hpp"
#include "device_times.hpp"
#include "nested_rows.hpp"
#include "row_durations.hpp"
#include "running_total.hpp"
#include "scope_states.hpp"
#include "thread_shares.hpp"
#include "whole_calls.hpp"

namespace coroscope::analysis {
namespace {

/// Adds everything about an event except its running time.
void add_call(function_event_avg& sum, const event& added, const trace& loaded, bool nested) {
    const std::int64_t wall_ns = added.end_ns - added.start_ns;
    if (is_whole(added)) [[likely]]
        take_lengths(sum, wall_ns, wall_ns);
    else
        ++sum.partial_count;
    ++sum.count;
    if ((added.flags & event_in_frame) != 0) ++sum.in_frame_count;
    if ((added.flags & event_suspension_unknown) != 0) ++sum.unknown_count;
    if (nested) return;
    add_to(sum.wall_ns, wall_ns);
    if (added.detail == none) [[likely]]
        return;
    const time_split& time = loaded.details[added.detail].time;
    add_to(sum.suspended_ns, time.suspended_ns);
    add_to(sum.queued_ns, time.queued_ns);
    add_to(sum.waiting_ns, time.waiting_ns);
}

/// Adds an event's times. A nested event adds only its self time, because its other times are part
/// of those of the event around it.
void add(function_event_avg& sum, const event& added, const trace& loaded, bool nested = false) {
    add_call(sum, added, loaded, nested);
    add_to(sum.self_cpu_time_total_ns, added.self_running_ns);
    if (nested) return;
    const std::int64_t running_ns = added.detail == none
                                        ? added.end_ns - added.start_ns
                                        : loaded.details[added.detail].time.running_ns;
    add_to(sum.cpu_time_total_ns, running_ns);
}

void add(function_event_avg& sum, const device_times& devices, std::size_t added,
         bool nested = false) {
    if (!nested) add_to(sum.device_time_total_ns, devices.total_ns(added));
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

// Finds the row of each event. Events of one site nearly always share one row, so the last row of
// each site is kept. A lookup is needed only if a site's event has another name, attribute, task or
// thread than the one before it.
class row_table {
public:
    row_table(const trace& loaded, average_key key, std::string_view attribute)
        : loaded_(loaded),
          key_(key),
          group_(group_by(key)),
          sites_(loaded.sites.size()),
          values_(loaded, attribute),
          rows_of_sites_(sites_ + 1) {}

    /// Returns the index of the event's row.
    std::size_t find(const event& added) {
        return find(added, group_ == nullptr ? none : added.*group_);
    }

    /// Returns the index of the row for the part of the event that belongs to `group`.
    std::size_t find(const event& added, std::uint32_t group) {
        const std::size_t site = std::min<std::size_t>(added.site, sites_);
        site_row& found = rows_of_sites_[site];
        if (found.name != added.name || found.group != group) [[unlikely]]
            found = find_row(site, group, added);
        return found.row;
    }

    function_event_avg& operator[](std::size_t row) { return rows_[row]; }

    std::vector<function_event_avg> rows() { return std::move(rows_); }

    /// Returns the key of a row, which must outlive it.
    [[nodiscard]] row_key key_of(const function_event_avg& row) const {
        row_key key{row.name, row.category, {}, 0, row.group};
        if (key_ == average_key::source_line && row.site < sites_) {
            key.file = loaded_.sites[row.site].file;
            key.line = loaded_.sites[row.site].line;
        }
        return key;
    }

private:
    // The last row of a site: the row of its events that have this name, and this attribute, task
    // or thread.
    struct site_row {
        std::size_t row = 0;
        std::uint32_t name = none;
        std::uint32_t group = none;
    };

    using event_index = std::uint32_t event::*;

    // Returns the member that separates events of one name into rows, or null if only the name
    // does.
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
    attribute_values values_;
    std::vector<function_event_avg> rows_;
    std::unordered_map<row_key, std::size_t, row_key_hash> known_;
    std::vector<site_row> rows_of_sites_;  // the last entry is for events without a site
};

}  // namespace

namespace {

/// Adds the states of an event's running time to its row, and takes them from the self time of the
/// row of its parent.
class state_sums {
public:
    explicit state_sums(const trace& loaded) : loaded_(loaded), states_(loaded) {}

    [[nodiscard]] bool any() const { return loaded_.states.any(); }

    /// `row_above` is the row of the parent, or null. Only the part on `thread` counts, or all of
    /// it if `thread` is none.
    void add(function_event_avg& row, function_event_avg* row_above, const event& added,
             bool nested, std::uint32_t thread = none) {
        const state_times own = states_.own(added, thread);
        row.self_states.add(own);
        if (row_above != nullptr && !has_no_self_time(loaded_.events[added.parent]))
            row_above->self_states.subtract(own);
        if (!nested) row.states.add(states_.running(added, thread));
    }

    void settle(std::vector<function_event_avg>& rows) const {
        if (!any()) return;
        for (function_event_avg& row : rows) {
            row.states = settled(row.states, row.cpu_time_total_ns);
            row.self_states = settled(row.self_states, row.self_cpu_time_total_ns);
        }
    }

private:
    const trace& loaded_;
    scope_states states_;
};

void add_states(state_sums& states, row_table& table, std::span<const thread_share> shares,
                const event& added, bool nested, const trace& loaded) {
    const bool has_parent = added.parent < loaded.events.size();
    for (const thread_share& share : shares) {
        const std::size_t above =
            has_parent ? table.find(loaded.events[added.parent], share.thread) : 0;
        const std::size_t row = table.find(added, share.thread);
        states.add(table[row], has_parent ? &table[above] : nullptr, added, nested, share.thread);
    }
}

/// A scope is counted on the thread on which it began. Its running time is divided among the
/// threads on which its task ran.
std::vector<function_event_avg> averages_by_thread(const trace& loaded) {
    row_table names(loaded, average_key::name, {});
    row_table table(loaded, average_key::thread, {});
    thread_shares shares(loaded);
    const device_times devices(loaded);
    state_sums states(loaded);
    nested_rows nesting(loaded.events.size());
    for (std::uint32_t at = 0; at < loaded.events.size(); ++at) {
        const event& each = loaded.events[at];
        const std::size_t name = names.find(each);
        const bool nested = nesting.take(at, each.parent, static_cast<std::uint32_t>(name));
        const std::size_t begun = table.find(each);
        add_call(table[begun], each, loaded, nested);
        if (devices.any()) add(table[begun], devices, at, nested);
        for (const thread_share& share : shares.of(at)) {
            function_event_avg& row = table[table.find(each, share.thread)];
            add_to(row.self_cpu_time_total_ns, share.self_ns);
            if (!nested) add_to(row.cpu_time_total_ns, share.running_ns);
        }
        if (states.any()) add_states(states, table, shares.of(at), each, nested, loaded);
    }
    std::vector<function_event_avg> rows = table.rows();
    states.settle(rows);
    return rows;
}

}  // namespace

std::vector<function_event_avg> key_averages(const trace& loaded, average_key key,
                                             std::string_view attribute) {
    if (key == average_key::thread) return averages_by_thread(loaded);
    row_table table(loaded, key, attribute);
    const device_times devices(loaded);
    const bool any_devices = devices.any();
    state_sums states(loaded);
    const bool any_states = states.any();
    nested_rows nesting(loaded.events.size());
    std::size_t at = 0;
    for (const event& each : loaded.events) {
        const std::size_t row = table.find(each);
        const bool nested = nesting.take(at, each.parent, static_cast<std::uint32_t>(row));
        add(table[row], each, loaded, nested);
        if (any_devices) [[unlikely]]
            add(table[row], devices, at, nested);
        if (any_states) {
            const std::uint32_t above = nesting.row_of(each.parent);
            states.add(table[row], above == none ? nullptr : &table[above], each, nested);
        }
        ++at;
    }
    std::vector<function_event_avg> rows = table.rows();
    states.settle(rows);
    return rows;
}

void add_percentiles(std::vector<function_event_avg>& rows, const trace& loaded, average_key key,
                     std::string_view attribute) {
    row_table table(loaded, key, attribute);
    row_durations durations;
    for (const event& each : loaded.events) {
        const std::size_t row = table.find(each);
        if (is_whole(each)) durations.count(row);
    }
    durations.end_count();
    for (const event& each : loaded.events)
        if (is_whole(each)) durations.add(table.find(each), each.end_ns - each.start_ns);
    std::unordered_map<row_key, std::size_t, row_key_hash> places;
    for (std::size_t at = 0; at < rows.size(); ++at) places[table.key_of(rows[at])] = at;
    const std::vector<function_event_avg> found = table.rows();
    for (std::size_t at = 0; at < found.size(); ++at)
        if (const auto place = places.find(table.key_of(found[at])); place != places.end())
            rows[place->second].wall_percentiles = durations.of(at);
    for (function_event_avg& row : rows)
        if (!row.wall_percentiles) row.wall_percentiles.emplace();
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

std::int64_t running_time_total_ns(const trace& loaded) {
    self_times scopes;
    for (const event& each : loaded.events) scopes.add(each.self_running_ns, each.task != none);
    return running_total_ns(loaded, scopes);
}

}  // namespace coroscope::analysis
