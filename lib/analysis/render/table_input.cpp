// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/table.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../events/saturated.hpp"
#include "health.hpp"
#include "places.hpp"

namespace coroscope::analysis {
namespace {

using group_value = std::optional<std::string>;

group_value task_name(const trace& loaded, std::uint32_t task) {
    if (task >= loaded.tasks.size()) return std::nullopt;
    const task_info& info = loaded.tasks[task];
    return fmt::format("{} ({})", render::site_name(loaded, info.spawn_site), info.id);
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
                return group_value(render::thread_name(loaded, thread));
            });
        case average_key::name:
        case average_key::source_line: break;
    }
}

void name_places(table_input& input, const trace& loaded) {
    for (const function_event_avg& row : input.rows) {
        const site_info* site = render::find_site(loaded, row.site);
        input.places.push_back(site ? render::place_of(*site) : std::string());
    }
}

std::string lane_name(const event_list& events, std::uint32_t thread) {
    const event_thread& lane = events.threads[thread];
    const std::string id =
        fmt::format("{}/{}", events.text(lane.process), events.text(lane.thread));
    return lane.name.empty() ? id : fmt::format("{} ({})", lane.name, id);
}

/// Memory records of no event are in no row of the CPU's.
void note_memory(table_input& input, const event_list& events) {
    std::size_t outside = 0;
    std::size_t failed = 0;
    std::int64_t cpu_bytes = 0;
    std::int64_t device_bytes = 0;
    for (const function_event each : events) {
        if (each.activity_type() != activity::memory) continue;
        ++(each.row().sums == none ? failed : outside);
        events::add_to(cpu_bytes, each.cpu_memory_usage());
        events::add_to(device_bytes, each.device_memory_usage());
    }
    if (outside != 0) {
        input.notes.push_back(
            fmt::format("Memory outside every event: {} records, {} on the CPU, {} on devices",
                        outside, format_bytes(cpu_bytes), format_bytes(device_bytes)));
    }
    if (failed != 0) input.notes.push_back(fmt::format("Failed allocations: {}", failed));
}

/// What ran on devices and is in no row, because no scope was open around its call.
void note_devices(table_input& input, const trace& loaded) {
    std::int64_t outside_ns = 0;
    for (const device_activity& each : loaded.device_activities)
        if (is_device_work(each.what) && each.event == none)
            events::add_to(outside_ns, each.end_ns - each.start_ns);
    if (outside_ns != 0)
        input.notes.push_back("Device time outside every scope: " + format_span(outside_ns));
}

}  // namespace

table_input table_of(const trace& loaded, average_key key, std::string_view attribute) {
    table_input input;
    input.rows = key_averages(loaded, key, attribute);
    input.self_cpu_time_total_ns = total_average(loaded).self_cpu_time_total_ns;
    input.has_tasks = !loaded.tasks.empty();
    input.self_device_time_total_ns = self_device_time_total_ns(loaded);
    input.health = loaded.health;
    input.device_note = render::device_note(loaded.health);
    note_devices(input, loaded);
    name_groups(input, loaded, key, attribute);
    if (key == average_key::source_line) name_places(input, loaded);
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
    if (by.select == event_selection::cpu) note_memory(input, events);
    if (by.by_thread) {
        group_by(input, "Thread", "thread", [&](std::uint32_t thread) {
            return thread < events.threads.size() ? group_value(lane_name(events, thread))
                                                  : group_value();
        });
    }
    return input;
}

}  // namespace coroscope::analysis
