// SPDX-License-Identifier: Apache-2.0

// The averages of an event_list.

#include <coroscope/analysis/averages.hpp>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

#include "../model/bounded.hpp"
#include "nested_rows.hpp"
#include "row_durations.hpp"
#include "selection.hpp"
#include "whole_calls.hpp"

namespace coroscope::analysis {
namespace {

std::string category_of(const function_event& event) {
    return std::string(event.activity_type() == activity::other
                           ? event.category()
                           : activity_name(event.activity_type()));
}

void copy_identity(function_event_avg& row, const function_event& first) {
    row.name = first.name();
    row.category = category_of(first);
    row.what = first.activity_type();
    row.device = first.device_type();
    row.is_async = first.is_async();
    row.is_remote = first.is_remote();
    row.is_legacy = first.is_legacy();
    row.is_user_annotation = first.is_user_annotation();
    row.has_parent = first.cpu_parent().has_value();
    row.node_id = first.node_id();
}

void add_length(function_event_avg& sum, std::int64_t wall_ns, bool nested = false) {
    sum.min_wall_ns = sum.count == 0 ? wall_ns : std::min(sum.min_wall_ns, wall_ns);
    sum.max_wall_ns = std::max(sum.max_wall_ns, wall_ns);
    if (!nested) add_to(sum.wall_ns, wall_ns);
    ++sum.count;
}

void add_split(function_event_avg& sum, const time_split& split) {
    if (split.wall_ns() == 0) return;
    ++sum.in_frame_count;
    add_to(sum.suspended_ns, split.suspended_ns);
    add_to(sum.queued_ns, split.queued_ns);
    add_to(sum.waiting_ns, split.waiting_ns);
}

/// Adds an event's figures. A nested event adds only its self figures, because the others are part
/// of those of the event around it.
void add_figures(function_event_avg& sum, const function_event& added, bool nested = false) {
    add_length(sum, added.time_range().elapsed_ns(), nested);
    if (!nested) add_split(sum, added.split());
    if ((added.row().flags & row_suspension_unknown) != 0) {
        ++sum.unknown_count;
    } else {
        if (!nested) add_to(sum.cpu_time_total_ns, added.cpu_time_total_ns());
        add_to(sum.self_cpu_time_total_ns, added.self_cpu_time_total_ns());
    }
    if (!nested) add_to(sum.device_time_total_ns, added.device_time_total_ns());
    add_to(sum.self_device_time_total_ns, added.self_device_time_total_ns());
    add_to(sum.cpu_memory_usage, added.cpu_memory_usage());
    add_to(sum.self_cpu_memory_usage, added.self_cpu_memory_usage());
    add_to(sum.device_memory_usage, added.device_memory_usage());
    add_to(sum.self_device_memory_usage, added.self_device_memory_usage());
    if (added.is_unfinished()) ++sum.unfinished_count;
    sum.flops += added.flops();
}

/// A faster add_figures() for the most frequent events, which are on the CPU and have no rare
/// facts. Returns false if the event is not such an event.
bool add_plain(function_event_avg& sum, const event_row& row, bool nested) {
    if (row.extra != none || row.sums != none || row.device != device_kind::cpu ||
        (row.flags & (row_suspension_unknown | row_unfinished)) != 0)
        return false;
    const std::int64_t wall_ns = row.end_ns - row.start_ns;
    add_length(sum, wall_ns, nested);
    if (!nested) add_to(sum.cpu_time_total_ns, wall_ns);
    if ((row.flags & row_async) == 0)
        add_to(sum.self_cpu_time_total_ns, saturated_difference(wall_ns, row.children_ns));
    return true;
}

/// Returns an event's self CPU time in a list with recorded times.
std::int64_t recorded_self_ns(const event_list& events, const event_row& row) {
    const std::int64_t self_ns = row.extra == none ? -1 : events.extras[row.extra].self_ns;
    return self_ns >= 0 ? self_ns : row.end_ns - row.start_ns;
}

/// Adds an event by the rules of a native trace. Its running and waiting time, and whether it is
/// nested, were recorded.
void add_recorded(function_event_avg& sum, const event_list& events, const event_row& row) {
    const bool nested = (row.flags & row_nested) != 0;
    const std::int64_t wall_ns = row.end_ns - row.start_ns;
    add_length(sum, wall_ns, nested);
    add_to(sum.self_cpu_time_total_ns, recorded_self_ns(events, row));
    if ((row.flags & row_suspension_unknown) != 0) ++sum.unknown_count;
    if ((row.flags & row_unfinished) != 0) ++sum.unfinished_count;
    const time_split split = row.extra == none ? time_split() : events.extras[row.extra].split;
    const bool is_split = split.wall_ns() != 0;
    if (is_split) ++sum.in_frame_count;
    if (nested) return;
    add_to(sum.cpu_time_total_ns, is_split ? split.running_ns : wall_ns);
    add_to(sum.suspended_ns, split.suspended_ns);
    add_to(sum.queued_ns, split.queued_ns);
    add_to(sum.waiting_ns, split.waiting_ns);
}

bool has_recorded_times(const event_list& events, const event_row& row) {
    return events.has_recorded_times && row.device == device_kind::cpu;
}

struct event_row_key {
    std::uint32_t name = none;
    std::uint32_t category = none;  // only of events that are not torch's
    std::uint32_t overload = none;
    std::uint32_t shapes = none;
    std::uint32_t stack = none;  // index into the cut stacks
    std::uint32_t thread = none;
    std::int64_t node_id = -1;
    activity what = activity::other;
    device_kind device = device_kind::cpu;
    std::uint16_t flags = 0;
    bool operator==(const event_row_key&) const = default;
};

struct event_row_key_hash {
    std::size_t operator()(const event_row_key& key) const {
        std::size_t hash = key.name;
        for (const std::size_t part :
             {std::size_t{key.category}, std::size_t{key.overload}, std::size_t{key.shapes},
              std::size_t{key.stack}, std::size_t{key.thread},
              static_cast<std::size_t>(key.node_id),
              static_cast<std::size_t>(key.what) << 8U | static_cast<std::size_t>(key.device),
              std::size_t{key.flags}})
            hash = (hash ^ part) * 0x9e37'79b9'7f4a'7c15ULL;
        return hash ^ (hash >> 32U);
    }
};

/// Numbers the stacks, cut to their first frames. Equal cut stacks have one number.
class cut_stacks {
public:
    cut_stacks(const event_list& events, std::size_t frames) : events_(events), frames_(frames) {}

    std::uint32_t find(std::uint32_t stack) {
        if (frames_ == 0 || stack == none) return none;
        const auto [place, is_new] = by_text_.try_emplace(stack, none);
        if (is_new) place->second = number(first_frames(events_.text(stack)));
        return place->second;
    }
    [[nodiscard]] std::string_view text(std::uint32_t number) const {
        return number < texts_.size() ? texts_[number] : std::string_view();
    }

private:
    [[nodiscard]] std::string_view first_frames(std::string_view stack) const {
        std::size_t end = 0;
        for (std::size_t frame = 0; frame < frames_ && end < stack.size(); ++frame)
            end = std::min(stack.find('\n', end), stack.size() - 1) + 1;
        stack = stack.substr(0, end);
        if (stack.ends_with('\n')) stack.remove_suffix(1);
        return stack;
    }
    std::uint32_t number(std::string_view text) {
        if (text.empty()) return none;
        const auto [place, is_new] =
            numbers_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
        if (is_new) texts_.push_back(text);
        return place->second;
    }

    const event_list& events_;
    std::size_t frames_;
    std::unordered_map<std::uint32_t, std::uint32_t> by_text_;
    std::unordered_map<std::string_view, std::uint32_t> numbers_;
    std::vector<std::string_view> texts_;
};

// Finds the row of each event. Events of one name nearly always share one row, so the last row of
// the name is tried first.
class event_row_table {
public:
    event_row_table(const event_list& events, const grouping& by)
        : events_(events),
          by_(by),
          stacks_(events, by.stack_frames),
          last_rows_(events.text_count(), none),
          nesting_(events.every_event_nests ? events.rows.size() : 0) {}

    void take(std::uint32_t index) {
        const event_row& row = events_.rows[index];
        if (!is_selected(row, by_.select, events_.every_event_nests)) return;
        const std::uint32_t place = find_row(index, row);
        if (has_recorded_times(events_, row)) return add_recorded(rows_[place], events_, row);
        // torch counts each event in full
        const bool nested = events_.every_event_nests && nesting_.take(index, row.parent, place);
        if (!add_plain(rows_[place], row, nested))
            add_figures(rows_[place], {events_, index}, nested);
    }

    /// Returns the index of the event's row; `none` if the event is in none.
    std::uint32_t place_of(std::uint32_t index) {
        const event_row& row = events_.rows[index];
        if (!is_selected(row, by_.select, events_.every_event_nests)) return none;
        return find_row(index, row);
    }

    std::vector<function_event_avg> rows() { return std::move(rows_); }

private:
    std::uint32_t find_row(std::uint32_t index, const event_row& row) {
        const event_row_key key = key_of(index, row);
        if (row.name >= last_rows_.size()) return known_row(index, key);
        std::uint32_t& last = last_rows_[row.name];
        if (last == none || keys_[last] != key) last = known_row(index, key);
        return last;
    }

    std::uint32_t known_row(std::uint32_t index, const event_row_key& key) {
        const auto [place, is_new] =
            known_.try_emplace(key, static_cast<std::uint32_t>(rows_.size()));
        if (is_new) add_row(index, key);
        return place->second;
    }

    void add_row(std::uint32_t index, const event_row_key& key) {
        keys_.push_back(key);
        function_event_avg& row = rows_.emplace_back();
        copy_identity(row, {events_, index});
        row.overload_name = events_.text(key.overload);
        row.input_shapes = events_.text(key.shapes);
        row.stack = stacks_.text(key.stack);
        row.group = key.thread;
    }

    event_row_key key_of(std::uint32_t index, const event_row& row) {
        event_row_key key;
        key.name = row.name;
        key.what = row.what;
        key.device = row.device;
        key.flags = row.flags & (row_legacy | row_user_annotation);
        if (row.what == activity::other) key.category = row.category;
        if (by_.by_thread) key.thread = row.thread;
        if (row.thread < events_.threads.size()) key.node_id = events_.threads[row.thread].node_id;
        if (row.extra == none) return key;
        const event_extra& extra = events_.extras[row.extra];
        key.node_id = function_event(events_, index).node_id();
        if (by_.by_overload_name) key.overload = extra.overload_name;
        if (by_.by_input_shape) key.shapes = extra.input_shapes;
        key.stack = stacks_.find(extra.stack);
        return key;
    }

    const event_list& events_;
    grouping by_;
    cut_stacks stacks_;
    std::vector<std::uint32_t> last_rows_;  // by name
    nested_rows nesting_;
    std::vector<event_row_key> keys_;  // of rows_
    std::vector<function_event_avg> rows_;
    std::unordered_map<event_row_key, std::uint32_t, event_row_key_hash> known_;
};

}  // namespace

bool function_event_avg::add(const function_event& added) {
    if (count == 0 && name.empty()) {
        copy_identity(*this, added);
        overload_name = added.overload_name();
        input_shapes = added.input_shapes();
        stack = added.stack();
    }
    if (name != added.key()) return false;
    add_figures(*this, added);
    return true;
}

bool function_event_avg::add(const function_event_avg& added) {
    if (count == 0 && name.empty()) {
        *this = added;
        return true;
    }
    if (name != added.name) return false;
    sum_up(added);
    return true;
}

void function_event_avg::sum_up(const function_event_avg& added) {
    if (added.count == 0) return;
    wall_percentiles.reset();  // those of a sum do not follow from those of its parts
    if (has_whole_calls(added)) take_lengths(*this, added.min_wall_ns, added.max_wall_ns);
    count += added.count;
    partial_count += added.partial_count;
    in_frame_count += added.in_frame_count;
    unknown_count += added.unknown_count;
    unfinished_count += added.unfinished_count;
    add_to(cpu_time_total_ns, added.cpu_time_total_ns);
    add_to(self_cpu_time_total_ns, added.self_cpu_time_total_ns);
    add_to(device_time_total_ns, added.device_time_total_ns);
    add_to(self_device_time_total_ns, added.self_device_time_total_ns);
    add_to(suspended_ns, added.suspended_ns);
    add_to(queued_ns, added.queued_ns);
    add_to(waiting_ns, added.waiting_ns);
    add_to(wall_ns, added.wall_ns);
    states.add(added.states);
    self_states.add(added.self_states);
    add_to(cpu_memory_usage, added.cpu_memory_usage);
    add_to(self_cpu_memory_usage, added.self_cpu_memory_usage);
    add_to(device_memory_usage, added.device_memory_usage);
    add_to(self_device_memory_usage, added.self_device_memory_usage);
    flops += added.flops;
}

std::vector<function_event_avg> key_averages(const event_list& events, const grouping& by) {
    event_row_table table(events, by);
    for (std::uint32_t index = 0; index < events.rows.size(); ++index) table.take(index);
    return table.rows();
}

void add_percentiles(std::vector<function_event_avg>& rows, const event_list& events,
                     const grouping& by) {
    const auto is_whole = [&](std::uint32_t index) {
        return (events.rows[index].flags & row_unfinished) == 0;
    };
    event_row_table table(events, by);
    row_durations durations;
    for (std::uint32_t index = 0; index < events.rows.size(); ++index) {
        const std::uint32_t place = table.place_of(index);
        if (place != none && is_whole(index)) durations.count(place);
    }
    durations.end_count();
    for (std::uint32_t index = 0; index < events.rows.size(); ++index) {
        const std::uint32_t place = table.place_of(index);
        const event_row& row = events.rows[index];
        if (place != none && is_whole(index)) durations.add(place, row.end_ns - row.start_ns);
    }
    for (std::size_t at = 0; at < rows.size(); ++at) rows[at].wall_percentiles = durations.of(at);
}

function_event_avg total_average(const event_list& events) {
    function_event_avg total;
    total.name = "Total";
    for (const function_event_avg& row : key_averages(events)) total.sum_up(row);
    return total;
}

std::int64_t self_cpu_time_total_ns(const event_list& events) {
    std::int64_t sum_ns = 0;
    for (const event_row& row : events.rows) {
        if (!is_selected(row, event_selection::cpu, events.every_event_nests)) continue;
        if (has_recorded_times(events, row))
            add_to(sum_ns, recorded_self_ns(events, row));
        else if ((row.flags & row_async) == 0)
            add_to(sum_ns, saturated_difference(row.end_ns - row.start_ns, row.children_ns));
    }
    return sum_ns;
}

std::int64_t self_device_time_total_ns(const event_list& events) {
    std::int64_t sum_ns = 0;
    for (const event_row& row : events.rows) {
        if (is_selected(row, event_selection::device, false) && (row.flags & row_async) == 0)
            add_to(sum_ns, row.end_ns - row.start_ns);
    }
    return sum_ns;
}

}  // namespace coroscope::analysis
