// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <algorithm>
#include <ctime>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "figure.hpp"
#include "health.hpp"
#include "json_writer.hpp"
#include "listing_json.hpp"
#include "places.hpp"
#include "utf8.hpp"

namespace coroscope::analysis {
namespace {

using render::figure;
using render::json_writer;

/// Events and slices by thread; an index that names no thread is left out.
template <class Elements>
std::vector<std::uint64_t> count_by_thread(const trace& loaded, const Elements& elements) {
    std::vector<std::uint64_t> counts(loaded.threads.size());
    for (const auto& each : elements) {
        if (each.thread < counts.size()) ++counts[each.thread];
    }
    return counts;
}

/// UTC, to the second; a time that no calendar holds is unknown.
std::string calendar_time(std::int64_t realtime_ns) {
    const std::time_t seconds = realtime_ns / 1'000'000'000;
    std::tm broken_down{};
    if (realtime_ns <= 0 || gmtime_r(&seconds, &broken_down) == nullptr) return "unknown";
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", broken_down);
}

std::optional<double> bytes_per_scope(const trace& loaded, std::uint64_t bytes) {
    if (loaded.events.empty()) return std::nullopt;
    return static_cast<double>(bytes) / static_cast<double>(loaded.events.size());
}

/// Tasks by how they stood when the session ended.
struct tasks_at_the_end {
    std::size_t alive = 0;
    std::size_t unknown = 0;  ///< nobody knows whether they had ended
};

tasks_at_the_end count_tasks(const trace& loaded) {
    tasks_at_the_end count;
    for (const task_info& task : loaded.tasks) {
        if (task.end_ns) continue;
        const bool unknown = render::is_named_only(task) || task.state == task_state::unknown;
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

/// What recording took of the recorded time, from the recorder's own calibration.
std::int64_t recording_cost_ns(const trace& loaded) {
    return static_cast<std::int64_t>(
        static_cast<double>(loaded.events.size()) * loaded.scope_cost_ns +
        static_cast<double>(loaded.awaits.size()) * loaded.await_cost_ns);
}

std::string size_line(const trace& loaded, std::uint64_t bytes) {
    std::string text = format_bytes(static_cast<std::int64_t>(bytes));
    if (const auto each = bytes_per_scope(loaded, bytes))
        text += fmt::format(", {:.1f} bytes per scope", *each);
    return text;
}

std::string overhead_line(const trace& loaded) {
    return fmt::format("{:.1f} ns per scope, {:.1f} ns per await: {} in all", loaded.scope_cost_ns,
                       loaded.await_cost_ns, format_span(recording_cost_ns(loaded)));
}

/// "2: NVIDIA H100, NVIDIA H100; 4000 activities", or why there are none.
std::string devices_line(const trace& loaded) {
    if (loaded.devices.empty() && loaded.device_activities.empty()) {
        const std::string note = render::device_note(loaded.health);
        return note.empty() ? std::string(render::device_state(loaded.health)) : note;
    }
    std::string text = std::to_string(loaded.devices.size());
    constexpr std::size_t most = 8;
    for (std::size_t at = 0; at < std::min(loaded.devices.size(), most); ++at)
        text += (at == 0 ? ": " : ", ") + render::printable(loaded.devices[at].name);
    if (loaded.devices.size() > most) text += ", ...";
    text += fmt::format("; {} activities", loaded.device_activities.size());
    const std::string note = render::device_note(loaded.health);
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

/// Says nothing of devices where nobody asked for them.
bool tells_of_devices(const trace& loaded) {
    return loaded.health.devices != coroscope::trace::device_recording::not_asked ||
           !loaded.device_activities.empty();
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
    const std::vector<std::uint64_t> scopes = count_by_thread(loaded, loaded.events);
    const std::vector<std::uint64_t> slices = count_by_thread(loaded, loaded.slices);
    for (std::size_t at = 0; at < loaded.threads.size(); ++at) {
        const thread_info& each = loaded.threads[at];
        list.rows.push_back({each.name, figure(each.id), figure(each.os_id), figure(scopes[at]),
                             figure(slices[at]), figure(each.dropped_newest),
                             figure(each.overwritten), optional_ns(each.waited_ns)});
    }
    return list;
}

std::string info_text(const trace& loaded) {
    std::string text;
    const auto line = [&text](std::string_view heading, std::string_view value) {
        text += fmt::format("{:<12}{}\n", heading, value);
    };
    line("Process",
         fmt::format("{} ({})", render::printable(loaded.process_name), loaded.process_id));
    line("Started", calendar_time(loaded.start_realtime_ns));
    line("Duration", format_span(loaded.duration_ns));
    line("Clock", render::printable(loaded.clock));
    line("Recorded",
         loaded.all_threads ? "every thread" : "the session's thread and the work it spawned");
    line("Policy", render::printable(loaded.policy));
    line("Size", size_line(loaded, loaded.file_bytes));
    if (loaded.packed_bytes != 0) line("Packed", size_line(loaded, loaded.packed_bytes));
    line("Scopes", std::to_string(loaded.events.size()));
    line("Tasks", tasks_line(loaded));
    line("Awaits", std::to_string(loaded.awaits.size()));
    line("Slices", std::to_string(loaded.slices.size()));
    line("Sites", std::to_string(loaded.sites.size()));
    if (tells_of_devices(loaded)) line("Devices", devices_line(loaded));
    line("Overhead", overhead_line(loaded));
    const std::string losses = loss_notes(loaded);
    line("Health", losses.empty() ? "nothing was lost" : "incomplete");
    return text + losses + '\n' + to_text(list_threads(loaded));
}

std::string info_json(const trace& loaded) {
    json_writer json;
    json.begin_object();
    json.member("process", loaded.process_name).member("process_id", loaded.process_id);
    json.member("start_realtime_ns", loaded.start_realtime_ns)
        .member("duration_ns", loaded.duration_ns);
    json.member("clock", loaded.clock).member("all_threads", loaded.all_threads);
    json.member("policy", loaded.policy).member("file_bytes", loaded.file_bytes);
    json.member("bytes_per_scope", bytes_per_scope(loaded, loaded.file_bytes));
    if (loaded.packed_bytes != 0) {
        json.member("packed_bytes", loaded.packed_bytes)
            .member("packed_bytes_per_scope", bytes_per_scope(loaded, loaded.packed_bytes));
    }
    json.member("scopes", loaded.events.size()).member("tasks", loaded.tasks.size());
    const tasks_at_the_end tasks = count_tasks(loaded);
    json.member("unfinished_tasks", tasks.alive)
        .member("unknown_tasks", tasks.unknown)
        .member("awaits", loaded.awaits.size());
    json.member("slices", loaded.slices.size()).member("sites", loaded.sites.size());
    json.member("scope_cost_ns", loaded.scope_cost_ns)
        .member("await_cost_ns", loaded.await_cost_ns);
    json.member("recording_cost_ns", recording_cost_ns(loaded));
    write_devices(json, loaded);
    json.key("threads");
    render::write_rows(json, list_threads(loaded));
    render::write_health(json, loaded.health);
    json.end();
    return std::move(json).take();
}

std::string loss_notes(const trace& loaded) { return render::health_text(loaded.health); }

}  // namespace coroscope::analysis
