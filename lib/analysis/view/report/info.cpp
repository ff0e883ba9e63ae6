// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <algorithm>
#include <ctime>
#include <limits>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "../../text/json_writer.hpp"
#include "../../text/utf8.hpp"
#include "../../words/health.hpp"
#include "../../words/places.hpp"
#include "../../words/sampling_words.hpp"
#include "../../words/state_source.hpp"
#include "../listing/figure.hpp"
#include "../listing/listing.hpp"

namespace coroscope::analysis {
namespace {

/// Events and slices by thread; an index that names no thread is left out.
template <class Elements>
std::vector<std::uint64_t> count_by_thread(const trace& loaded, const Elements& elements) {
    std::vector<std::uint64_t> counts(loaded.threads.size());
    for (const auto& each : elements) {
        if (each.thread < counts.size()) ++counts[each.thread];
    }
    return counts;
}

/// Returns the time in UTC, to the second, or "unknown" if it is not a valid date.
std::string calendar_time(std::int64_t realtime_ns) {
    const std::time_t seconds = realtime_ns / 1'000'000'000;
    std::tm broken_down{};
    if (realtime_ns <= 0 || gmtime_r(&seconds, &broken_down) == nullptr) return "unknown";
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", broken_down);
}

/// The number of scopes, also of those that load() left out.
std::uint64_t count_scopes(const trace& loaded) {
    std::uint64_t count = loaded.events.size();
    for (const thread_info& each : loaded.threads) count += each.scopes_left_out;
    return count;
}

std::optional<double> bytes_per_scope(const trace& loaded, std::uint64_t bytes) {
    const std::uint64_t scopes = count_scopes(loaded);
    if (scopes == 0) return std::nullopt;
    return static_cast<double>(bytes) / static_cast<double>(scopes);
}

/// The numbers of tasks by their state when the session ended.
struct tasks_at_the_end {
    std::size_t alive = 0;
    std::size_t unknown = 0;  ///< the tasks may have ended
};

tasks_at_the_end count_tasks(const trace& loaded) {
    tasks_at_the_end count;
    for (const task_info& task : loaded.tasks) {
        if (task.end_ns) continue;
        const bool unknown = is_named_only(task) || task.state == task_state::unknown;
        ++(unknown ? count.unknown : count.alive);
    }
    return count;
}

std::string tasks_line(const trace& loaded) {
    const auto [alive, unknown] = count_tasks(loaded);
    std::string text = fmt::format("{}, {} alive at the end", loaded.tasks.size(), alive);
    if (unknown != 0) text += fmt::format(", {} in an unknown state", unknown);
    return text;
}

bool names_open_scopes(const trace& loaded) {
    return (loaded.asked_for & coroscope::trace::feature_open_scopes) != 0;
}

/// The number of scopes that were open at the session's end.
std::string open_scopes_line(const trace& loaded) {
    return names_open_scopes(loaded) ? std::to_string(loaded.health.open_scopes)
                                     : "not recorded (open_scopes)";
}

/// The share of recording in the recorded time, from the recorder's own calibration.
std::int64_t recording_cost_ns(const trace& loaded) {
    return static_cast<std::int64_t>(
        static_cast<double>(count_scopes(loaded)) * loaded.scope_cost_ns +
        static_cast<double>(loaded.awaits.size()) * loaded.await_cost_ns);
}

/// A limit may be any number of 64 bits.
std::string bytes_text(std::uint64_t bytes) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    return format_bytes(static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, most)));
}

std::string size_line(const trace& loaded, std::uint64_t bytes) {
    std::string text = bytes_text(bytes);
    if (const auto each = bytes_per_scope(loaded, bytes))
        text += fmt::format(", {:.1f} bytes per scope", *each);
    return text;
}

/// "128.0 MiB, an eighth of the 1.0 GiB that the container may use".
std::string limit_line(const trace& loaded) {
    std::string text = bytes_text(loaded.limit_bytes);
    if (loaded.container_bytes != 0)
        text += fmt::format(", an eighth of the {} that the container may use",
                            bytes_text(loaded.container_bytes));
    return text;
}

std::string overhead_line(const trace& loaded) {
    return fmt::format("{:.1f} ns per scope, {:.1f} ns per await: {} in all", loaded.scope_cost_ns,
                       loaded.await_cost_ns, format_span(recording_cost_ns(loaded)));
}

/// Returns "2: NVIDIA H100, NVIDIA H100; 4000 activities", or the reason why there are no devices.
std::string devices_line(const trace& loaded) {
    if (loaded.devices.empty() && loaded.device_activities.empty()) {
        const std::string note = device_note(loaded.health);
        return note.empty() ? std::string(device_state(loaded.health)) : note;
    }
    std::string text = std::to_string(loaded.devices.size());
    constexpr std::size_t most = 8;
    for (std::size_t at = 0; at < std::min(loaded.devices.size(), most); ++at)
        text += (at == 0 ? ": " : ", ") + printable(loaded.devices[at].name);
    if (loaded.devices.size() > most) text += ", ...";
    text += fmt::format("; {} activities", loaded.device_activities.size());
    const std::string note = device_note(loaded.health);
    return note.empty() ? text : text + ". " + note;
}

void write_devices(json_writer& json, const trace& loaded) {
    json.key("devices").begin_array();
    for (const device_info& each : loaded.devices) {
        json.begin_object(json_writer::layout::compact);
        json.member("device", each.id).member("name", each.name).end();
    }
    json.end();
    json.member("device_activities", loaded.device_activities.size());
    json.member("device_waits", loaded.device_waits.size());
}

/// Returns whether the trace has facts about thread states. Older traces have none.
bool tells_of_states(const trace& loaded) {
    return loaded.states.source != coroscope::trace::thread_state_source::none;
}

/// "each context switch; 12000 switches, 30 lost".
std::string states_line(const trace& loaded) {
    const thread_states& states = loaded.states;
    std::string text = state_source_text(states);
    if (states.switches != 0) text += fmt::format("; {} switches", states.switches);
    if (states.lost_switches != 0) text += fmt::format(", {} lost", states.lost_switches);
    return text;
}

/// "4; the container may use 1.5".
std::string processors_line(const trace& loaded) {
    constexpr double whole = 100;
    std::string text = std::to_string(loaded.states.processors);
    if (loaded.states.quota_percent != 0)
        text += fmt::format("; the container may use {:g}", loaded.states.quota_percent / whole);
    return text;
}

void write_thread_states(json_writer& json, const thread_states& states) {
    json.key("thread_states").begin_object(json_writer::layout::compact);
    json.member("source", state_source_name(states)).member("message", states.message);
    json.member("switches", states.switches).member("lost_switches", states.lost_switches);
    json.member("looks", states.looks.size());
    json.end();
    const auto known = [](std::uint32_t figure) {
        return figure == 0 ? std::nullopt : optional_ns(figure);
    };
    json.member("processors", known(states.processors));
    json.member("quota_percent", known(states.quota_percent));
}

/// Returns whether info has lines about devices. It has none if devices were not requested.
bool has_devices(const trace& loaded) {
    return loaded.health.devices != coroscope::trace::device_recording::not_asked ||
           !loaded.device_activities.empty();
}

/// Appends the times of a thread's states. All are unknown if the trace has no facts about the
/// thread.
void append_thread_states(std::vector<listing_cell>& cells, const thread_states& states,
                          std::uint32_t thread) {
    if (states.histories[thread].points.empty())
        cells.resize(cells.size() + 4, optional_ns());
    else
        append_states(cells, states.sums_of(thread));
}

/// Returns whether the trace lost nothing. Requests that sampling left out are no loss, nor are
/// features without data.
bool is_complete(const trace& loaded) {
    trace_health lost = loaded.health;
    lost.left_out_requests = 0;
    lost.without_data = 0;
    return health_text(lost).empty() && loaded.states.lost_switches == 0;
}

void write_sampling(json_writer& json, const trace& loaded) {
    const request_sampling& sampling = loaded.sampling;
    json.key("sampling").begin_object(json_writer::layout::compact);
    json.member("requests", loaded.requests.size());
    json.member("left_out", loaded.health.left_out_requests);
    json.member("interval", sampling.interval).member("least_interval", sampling.least_interval);
    json.member("budget_ppm", sampling.budget_ppm).member("cost_ppm", sampling.cost_ppm);
    json.member("changes", sampling.changes);
    json.key("changed").begin_array();
    for (const interval_change& each : sampling.changed) {
        json.begin_object(json_writer::layout::compact);
        json.member("time_ns", each.time_ns).member("interval", each.interval);
        json.member("before", each.before).member("cost_ppm", each.cost_ppm).end();
    }
    json.end().end();
}

}  // namespace

listing list_threads(const trace& loaded) {
    listing list;
    list.columns = {{"Thread", "name", cell_kind::text},
                    {"Id", "thread", cell_kind::count},
                    {"System id", "os_id", cell_kind::count},
                    {"Scopes", "scopes", cell_kind::count},
                    {"Slices", "slices", cell_kind::count},
                    {"Dropped", "dropped_newest", cell_kind::count},
                    {"Overwritten", "overwritten", cell_kind::count},
                    {"Waited", "waited_ns", cell_kind::time}};
    const bool states = loaded.states.any();
    if (states) append_state_columns(list.columns);
    const std::vector<std::uint64_t> scopes = count_by_thread(loaded, loaded.events);
    const std::vector<std::uint64_t> slices = count_by_thread(loaded, loaded.slices);
    for (std::size_t at = 0; at < loaded.threads.size(); ++at) {
        const thread_info& each = loaded.threads[at];
        list.rows.push_back({each.name, figure(each.id), figure(each.os_id),
                             figure(scopes[at] + each.scopes_left_out), figure(slices[at]),
                             figure(each.dropped_newest), figure(each.overwritten),
                             optional_ns(each.waited_ns)});
        if (!states) continue;
        append_thread_states(list.rows.back(), loaded.states, static_cast<std::uint32_t>(at));
    }
    return list;
}

std::string info_text(const trace& loaded, const listing_options& options) {
    std::string text;
    const auto line = [&text](std::string_view heading, std::string_view value) {
        text += fmt::format("{:<12}{}\n", heading, value);
    };
    line("Process", fmt::format("{} ({})", printable(loaded.process_name), loaded.process_id));
    line("Started", calendar_time(loaded.start_realtime_ns));
    line("Duration", format_span(loaded.duration_ns));
    line("Clock", printable(loaded.clock));
    line("Recorded",
         loaded.all_threads ? "every thread" : "the session's thread and the work it spawned");
    line("Policy", printable(loaded.policy));
    if (loaded.limit_bytes != 0) line("Limit", limit_line(loaded));
    line("Size", size_line(loaded, loaded.file_bytes));
    if (loaded.packed_bytes != 0) line("Packed", size_line(loaded, loaded.packed_bytes));
    line("Scopes", std::to_string(count_scopes(loaded)));
    line("Open scopes", open_scopes_line(loaded));
    line("Tasks", tasks_line(loaded));
    line("Awaits", std::to_string(loaded.awaits.size()));
    line("Slices", std::to_string(loaded.slices.size()));
    line("Sites", std::to_string(loaded.sites.size()));
    if (has_devices(loaded)) line("Devices", devices_line(loaded));
    const std::string asio = asio_versions(loaded.health);
    if (!asio.empty()) line("Tracked", asio);
    if (tells_of_states(loaded)) line("States", states_line(loaded));
    if (loaded.states.processors != 0) line("Processors", processors_line(loaded));
    line("Overhead", overhead_line(loaded));
    if (loaded.sampling.is_on()) line("Sampling", sampling_text(loaded));
    if (!loaded.categories.empty()) line("Categories", printable(loaded.categories));
    const std::string losses = loss_notes(loaded);
    line("Health", is_complete(loaded) ? "nothing was lost" : "incomplete");
    return text + losses + '\n' + to_text(list_threads(loaded), options);
}

std::string info_json(const trace& loaded) {
    json_writer json;
    json.begin_object();
    json.member("process", loaded.process_name).member("process_id", loaded.process_id);
    json.member("start_realtime_ns", loaded.start_realtime_ns)
        .member("duration_ns", loaded.duration_ns);
    json.member("clock", loaded.clock).member("all_threads", loaded.all_threads);
    json.member("policy", loaded.policy).member("file_bytes", loaded.file_bytes);
    json.member("limit_bytes", loaded.limit_bytes)
        .member("container_bytes", loaded.container_bytes);
    json.member("bytes_per_scope", bytes_per_scope(loaded, loaded.file_bytes));
    if (loaded.packed_bytes != 0) {
        json.member("packed_bytes", loaded.packed_bytes)
            .member("packed_bytes_per_scope", bytes_per_scope(loaded, loaded.packed_bytes));
    }
    json.member("scopes", count_scopes(loaded)).member("tasks", loaded.tasks.size());
    json.member("names_open_scopes", names_open_scopes(loaded));
    const tasks_at_the_end tasks = count_tasks(loaded);
    json.member("unfinished_tasks", tasks.alive)
        .member("unknown_tasks", tasks.unknown)
        .member("awaits", loaded.awaits.size());
    json.member("slices", loaded.slices.size()).member("sites", loaded.sites.size());
    json.member("scope_cost_ns", loaded.scope_cost_ns)
        .member("await_cost_ns", loaded.await_cost_ns);
    json.member("recording_cost_ns", recording_cost_ns(loaded));
    write_devices(json, loaded);
    if (tells_of_states(loaded)) write_thread_states(json, loaded.states);
    if (loaded.sampling.is_on()) write_sampling(json, loaded);
    if (!loaded.categories.empty()) json.member("categories", loaded.categories);
    json.key("threads");
    write_rows(json, list_threads(loaded));
    write_health(json, loaded.health);
    json.end();
    return std::move(json).take();
}

std::string sampling_note(const trace& loaded) {
    return loaded.sampling.is_on() ? fmt::format("Recorded: {}\n", sampling_text(loaded))
                                   : std::string();
}

std::string loss_notes(const trace& loaded) { return health_text(loaded.health); }

}  // namespace coroscope::analysis
