// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/table.hpp>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../../answer/selection.hpp"
#include "../../model/bounded.hpp"
#include "../../text/utf8.hpp"
#include "../../words/health.hpp"
#include "../../words/places.hpp"
#include "../../words/state_source.hpp"

namespace coroscope::analysis {
namespace {

using group_value = std::optional<std::string>;

group_value task_name(const trace& loaded, std::uint32_t task) {
    if (task >= loaded.tasks.size()) return std::nullopt;
    const task_info& info = loaded.tasks[task];
    return fmt::format("{} ({})", site_name(loaded, info.spawn_site), info.id);
}

void group_by(table_input& input, std::string heading, std::string column, const auto& value_of) {
    input.group = std::move(heading);
    input.group_column = std::move(column);
    for (const function_event_avg& row : input.rows)
        input.group_values.push_back(row.group == none ? group_value() : value_of(row.group));
}

void name_groups(table_input& input, const trace& loaded, average_key key,
                 std::string_view attribute) {
    switch (key) {
        case average_key::attribute:
            return group_by(
                input, std::string(attribute), "attr:" + std::string(attribute),
                [&](std::uint32_t string) { return group_value(loaded.strings[string]); });
        case average_key::task:
            return group_by(input, "Task", "task",
                            [&](std::uint32_t task) { return task_name(loaded, task); });
        case average_key::thread:
            return group_by(input, "Thread", "thread", [&](std::uint32_t thread) {
                return group_value(thread_name(loaded, thread));
            });
        case average_key::name:
        case average_key::source_line: break;
    }
}

void name_places(table_input& input, const trace& loaded) {
    for (const function_event_avg& row : input.rows) {
        const site_info* site = find_site(loaded, row.site);
        input.places.push_back(site ? place_of(*site) : std::string());
    }
}

std::string lane_name(const event_list& events, std::uint32_t thread) {
    const event_thread& lane = events.threads[thread];
    const std::string id =
        fmt::format("{}/{}", events.text(lane.process), events.text(lane.thread));
    return lane.name.empty() ? id : fmt::format("{} ({})", lane.name, id);
}

constexpr std::size_t most_categories_named = 5;
constexpr std::size_t longest_category = 55;

/// Returns the categories with the most events: "a, b and 3 more".
std::string names_of(const event_list& events,
                     const std::map<std::uint32_t, std::size_t>& categories) {
    using entry = std::pair<std::uint32_t, std::size_t>;
    std::vector<entry> sorted(categories.begin(), categories.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const entry& left, const entry& right) {
        return left.second > right.second;
    });
    std::string names;
    for (std::size_t at = 0; at < sorted.size() && at < most_categories_named; ++at) {
        const std::string name = printable(events.text(sorted[at].first));
        names += at == 0 ? "" : ", ";
        names += name.empty() ? "(none)" : first_characters(name, longest_category);
    }
    if (sorted.size() > most_categories_named)
        names += fmt::format(" and {} more", sorted.size() - most_categories_named);
    return names;
}

std::string events_text(std::size_t count) {
    return fmt::format("{} {}", count, count == 1 ? "event" : "events");
}

/// Adds a note about events of categories that the table does not show.
void note_left_out(table_input& input, const event_list& events, event_selection select) {
    std::size_t left_out = 0;
    std::map<std::uint32_t, std::size_t> categories;
    for (const event_row& row : events.rows) {
        if (!is_left_out(row, select, events.every_event_nests)) continue;
        ++left_out;
        ++categories[row.category];
    }
    if (left_out == 0) return;
    input.notes.push_back(fmt::format(
        "{} of the {} {} {} not in this table; coroscope export has {}", events_text(left_out),
        categories.size() == 1 ? "category" : "categories", names_of(events, categories),
        left_out == 1 ? "is" : "are", left_out == 1 ? "it" : "them"));
}

/// Adds a note about events that count as part of an enclosing event.
void note_folded(table_input& input, const event_list& events) {
    if (events.folded_events == 0) return;
    input.notes.push_back(
        fmt::format("{} counted as part of the enclosing event of the same name, as torch does",
                    events_text(events.folded_events)));
}

/// Adds a note about device events to a table without rows. Otherwise the rows of the CPU have the
/// device times.
void note_devices(table_input& input, const event_list& events) {
    if (!input.rows.empty()) return;
    const auto ran =
        std::count_if(events.rows.begin(), events.rows.end(), [](const event_row& row) {
            return row.device != device_kind::cpu && row.what != activity::memory;
        });
    if (ran != 0)
        input.notes.push_back(events_text(static_cast<std::size_t>(ran)) +
                              " on devices: coroscope table --device");
}

/// Adds notes about memory records that are in no row of the CPU.
void note_memory(table_input& input, const event_list& events) {
    std::size_t outside = 0;
    std::size_t failed = 0;
    std::int64_t cpu_bytes = 0;
    std::int64_t device_bytes = 0;
    for (const function_event each : events) {
        if (each.activity_type() != activity::memory) continue;
        ++(each.row().sums == none ? failed : outside);
        add_to(cpu_bytes, each.cpu_memory_usage());
        add_to(device_bytes, each.device_memory_usage());
    }
    if (outside != 0) {
        input.notes.push_back(
            fmt::format("Memory in no row: {} on the CPU, {} on devices; records of it: {}",
                        format_bytes(cpu_bytes), format_bytes(device_bytes), outside));
    }
    if (failed != 0) input.notes.push_back(fmt::format("Failed allocations: {}", failed));
}

/// Adds a note about device work that is in no row, because no scope was open around its call.
void note_devices(table_input& input, const trace& loaded) {
    std::int64_t outside_ns = 0;
    for (const device_activity& each : loaded.device_activities)
        if (is_device_work(each.what) && each.event == none)
            add_to(outside_ns, each.end_ns - each.start_ns);
    if (outside_ns != 0)
        input.notes.push_back("Device time outside every scope: " + format_span(outside_ns));
}

/// Names the views that show what a trace without scopes has.
void note_other_views(table_input& input, const trace& loaded) {
    if (!input.rows.empty()) return;
    if (!loaded.tasks.empty())
        input.other_views.push_back(
            fmt::format("Tasks without a scope: {}; see coroscope tasks", loaded.tasks.size()));
    if (!loaded.memory.empty())
        input.other_views.push_back(
            fmt::format("Memory records outside scopes: {}; see coroscope table "
                        "--torch",
                        loaded.memory.size()));
    if (!loaded.attributes.empty())
        input.other_views.push_back(
            fmt::format("Attributes without a scope: {}; see coroscope export --to csv --table "
                        "attributes",
                        loaded.attributes.size()));
}

table_input with_rows(std::vector<function_event_avg> rows, std::int64_t self_cpu_time_total_ns,
                      const trace& loaded, average_key key, std::string_view attribute) {
    table_input input;
    input.rows = std::move(rows);
    input.self_cpu_time_total_ns = self_cpu_time_total_ns;
    input.has_tasks = !loaded.tasks.empty();
    input.distinct_names = true;
    input.is_running_time = true;
    input.has_states = loaded.states.any();
    input.states_source = state_source_text(loaded.states);
    input.states_source_name = state_source_name(loaded.states);
    for (const function_event_avg& row : input.rows) input.self_states.add(row.self_states);
    input.self_device_time_total_ns = self_device_time_total_ns(loaded);
    input.health = loaded.health;
    input.device_note = device_note(loaded.health);
    note_devices(input, loaded);
    note_other_views(input, loaded);
    name_groups(input, loaded, key, attribute);
    if (key == average_key::source_line) name_places(input, loaded);
    return input;
}

}  // namespace

table_input table_of(const trace& loaded, average_key key, std::string_view attribute) {
    table_input input =
        with_rows(key_averages(loaded, key, attribute),
                  total_average(loaded).self_cpu_time_total_ns, loaded, key, attribute);
    input.running_time_total_ns = running_time_total_ns(loaded);
    return input;
}

table_input table_of(const trace_averages& averages, average_key key, std::string_view attribute) {
    table_input input =
        with_rows(averages.rows, averages.self_cpu_time_total_ns, averages.loaded, key, attribute);
    input.running_time_total_ns = averages.running_time_total_ns;
    return input;
}

table_input table_of(const event_list& events, const grouping& by) {
    table_input input;
    input.rows = key_averages(events, by);
    input.self_cpu_time_total_ns = self_cpu_time_total_ns(events);
    input.self_device_time_total_ns = self_device_time_total_ns(events);
    if (!events.use_device.empty()) input.device = events.use_device;
    input.device_note = events.device_note;
    input.device_rows = by.select == event_selection::device;
    input.memory_profile = events.memory_profile;
    input.health = events.health;
    note_left_out(input, events, by.select);
    if (by.select == event_selection::cpu) {
        note_folded(input, events);
        note_devices(input, events);
        note_memory(input, events);
    }
    if (by.by_thread) {
        group_by(input, "Thread", "thread", [&](std::uint32_t thread) {
            return thread < events.threads.size() ? group_value(lane_name(events, thread))
                                                  : group_value();
        });
    }
    return input;
}

}  // namespace coroscope::analysis
