// SPDX-License-Identifier: Apache-2.0

// One task, told in full.

#include <coroscope/analysis/views.hpp>

#include <utility>

#include <fmt/format.h>

#include "device_text.hpp"
#include "figure.hpp"
#include "json_writer.hpp"
#include "listing_json.hpp"
#include "places.hpp"
#include "split_text.hpp"
#include "utf8.hpp"

namespace coroscope::analysis {
namespace {

using render::json_writer;

std::string other_task(const trace& loaded, std::uint32_t index) {
    if (index >= loaded.tasks.size()) return "none";
    const task_info& task = loaded.tasks[index];
    return fmt::format("{} ({})", task.id,
                       render::printable(render::site_name(loaded, task.spawn_site)));
}

std::string moment(const optional_ns& time, const listing_options& options) {
    return time ? format_time(*time, options.unit) : "unknown";
}

std::string kind_of(const task_info& task) {
    if (task.fiber) return "fiber";
    if (task.asio) return "Asio handler or coroutine";
    return task.job ? "job" : "coroutine";
}

json_writer& write_index(json_writer& json, std::string_view key, const trace& loaded,
                         std::uint32_t task) {
    json.key(key);
    return task < loaded.tasks.size() ? json.integer(loaded.tasks[task].id) : json.null();
}

/// Null where the trace has nothing of devices.
void write_devices(json_writer& json, const trace& loaded, const device_work& work) {
    json.key("devices");
    if (loaded.device_activities.empty()) {
        json.null();
        return;
    }
    json.begin_object(json_writer::layout::compact);
    json.member("device_ns", work.total_ns());
    json.member("kernels", work.kernels.count).member("kernels_ns", work.kernels.total_ns);
    json.member("copies", work.copies.count).member("copies_ns", work.copies.total_ns);
    json.member("sets", work.sets.count).member("sets_ns", work.sets.total_ns);
    json.end();
}

}  // namespace

std::string task_text(const trace& loaded, std::uint32_t index, const listing_options& options) {
    const task_info& task = loaded.tasks[index];
    std::string text;
    const auto line = [&text](std::string_view heading, std::string_view value) {
        text += fmt::format("{:<12}{}\n", heading, value);
    };
    const std::string place = render::site_place(loaded, task.spawn_site);
    line("Task", other_task(loaded, index));
    line("Kind", kind_of(task));
    line("Spawned at", place.empty() ? "unknown" : render::printable(place));
    const bool known = !render::is_named_only(task);
    line("State", render::state_of(task));
    line("Parent", other_task(loaded, task.parent));
    line("Awaiter", other_task(loaded, task.awaiter));
    line("Spawned",
         task.older_than_session ? "before the session" : moment(task.spawn_ns, options));
    line("First wake", moment(task.first_wake_ns, options));
    line("Ended", task.end_ns || !known ? moment(task.end_ns, options) : "not within the session");
    line("Wall", known ? render::split_text(task.time.wall_ns(), task.time) : "unknown");
    if (const device_work work = work_of_task(loaded, index); !work.empty())
        line("On devices", render::work_text(loaded, work));
    if (task.losses) line("Losses", "records of it were lost; gaps count as waiting");
    text.append("\n").append(to_text(list_task_awaits(loaded, index), options));
    text.append("\n").append(to_text(list_task_slices(loaded, index), options));
    return text;
}

std::string task_json(const trace& loaded, std::uint32_t index) {
    const task_info& task = loaded.tasks[index];
    json_writer json;
    json.begin_object();
    json.member("task", task.id).member("name", render::site_name(loaded, task.spawn_site));
    json.member("place", render::site_place(loaded, task.spawn_site));
    json.member("kind", kind_of(task)).member("state", render::state_of(task));
    write_index(json, "parent", loaded, task.parent);
    write_index(json, "awaiter", loaded, task.awaiter);
    json.member("older_than_session", task.older_than_session).member("losses", task.losses);
    json.member("spawn_ns", task.spawn_ns).member("first_wake_ns", task.first_wake_ns);
    json.member("end_ns", task.end_ns).member("spawn_to_wake_ns", task.spawn_to_wake_ns);
    const time_split& time = task.time;
    const auto known = [named_only = render::is_named_only(task)](optional_ns part_ns) {
        return named_only ? std::nullopt : part_ns;
    };
    json.member("running_ns", known(time.running_ns));
    json.member("suspended_ns", known(render::known_part(time, time.suspended_ns)));
    json.member("queued_ns", known(render::known_part(time, time.queued_ns)));
    json.member("waiting_ns", known(time.waiting_ns)).member("wall_ns", known(time.wall_ns()));
    write_devices(json, loaded, work_of_task(loaded, index));
    json.key("awaits");
    render::write_rows(json, list_task_awaits(loaded, index));
    json.key("slices");
    render::write_rows(json, list_task_slices(loaded, index));
    json.end();
    return std::move(json).take();
}

}  // namespace coroscope::analysis
