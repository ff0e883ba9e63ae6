// SPDX-License-Identifier: Apache-2.0

// All facts of one task.

#include <coroscope/analysis/views.hpp>

#include <initializer_list>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../text/json_writer.hpp"
#include "../../text/utf8.hpp"
#include "../../words/places.hpp"
#include "../../words/split_text.hpp"
#include "../listing/device_text.hpp"
#include "../listing/figure.hpp"
#include "../listing/listing.hpp"
#include "../listing/moments.hpp"

namespace coroscope::analysis {
namespace {

std::string other_task(const trace& loaded, std::uint32_t index) {
    if (index >= loaded.tasks.size()) return "none";
    const task_info& task = loaded.tasks[index];
    return fmt::format("{} ({})", task.id, printable(site_name(loaded, task.spawn_site)));
}

std::string moment(const optional_ns& time, const moment_format& moments) {
    return time ? moments.text(*time) : "unknown";
}

moment_format moments_of(const task_info& task, std::initializer_list<const listing*> lists,
                         time_unit unit) {
    std::vector<std::int64_t> moments;
    for (const listing* const each : lists) {
        const std::vector<std::int64_t> starts = moments_of(*each);
        moments.insert(moments.end(), starts.begin(), starts.end());
    }
    for (const optional_ns& each : {task.spawn_ns, task.first_wake_ns, task.end_ns})
        if (each) moments.push_back(*each);
    return {std::move(moments), unit};
}

/// Returns whether the task was cancelled and never woken. False if a record of the task may be
/// lost.
bool never_ready(const task_info& task) {
    return task.state == task_state::cancelled && !task.first_wake_ns && !task.losses;
}

/// The size of its coroutine's frame; 0: unknown.
std::uint32_t frame_bytes(const trace& loaded, const task_info& task) {
    return task.spawn_site < loaded.sites.size() ? loaded.sites[task.spawn_site].frame_bytes : 0;
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

void write_states(json_writer& json, const state_times& times, bool named_only) {
    const bool nothing = named_only || (times.known_ns() == 0 && times.unknown_ns != 0);
    const auto known = [nothing](std::int64_t part_ns) {
        return nothing ? std::nullopt : optional_ns(part_ns);
    };
    json.member("on_cpu_ns", known(times.on_cpu_ns)).member("blocked_ns", known(times.blocked_ns));
    json.member("preempted_ns", known(times.preempted_ns));
    json.member("unknown_state_ns", named_only ? std::nullopt : optional_ns(times.unknown_ns));
}

/// Writes the member "devices": null if the trace has no device activities.
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

/// Returns the number of scopes of the task around a scope. The bound ends a cycle, which only
/// damage can cause.
std::int64_t depth_of(const trace& loaded, const event& scope) {
    std::int64_t depth = 0;
    for (std::uint32_t at = scope.parent;
         at < loaded.events.size() && loaded.events[at].task == scope.task && depth < 1000;
         at = loaded.events[at].parent)
        ++depth;
    return depth;
}

std::string kind_of_scope(const event& scope) {
    if ((scope.flags & event_await) != 0) return "await";
    return (scope.flags & event_explicit) != 0 ? "range" : "scope";
}

/// "clipped": it began before the session; "open": it did not end in it.
std::string ends_of_scope(const event& scope) {
    std::string text;
    for (const auto& [flag, word] :
         {std::pair(event_clipped, "clipped"), std::pair(event_open, "open"),
          std::pair(event_abandoned, "abandoned")})
        if ((scope.flags & flag) != 0) text += (text.empty() ? "" : ", ") + std::string(word);
    return text;
}

std::vector<listing_cell> row_of_scope(const trace& loaded, const event& scope) {
    const bool is_known = (scope.flags & event_suspension_unknown) == 0;
    const std::int64_t depth = depth_of(loaded, scope);
    const std::string name =
        scope.name < loaded.strings.size() ? loaded.strings[scope.name] : "unknown";
    time_split time{.running_ns = scope.end_ns - scope.start_ns};
    if (scope.detail < loaded.details.size()) time = loaded.details[scope.detail].time;
    std::vector<listing_cell> cells{std::string(2 * static_cast<std::size_t>(depth), ' ') + name,
                                    kind_of_scope(scope), optional_ns(scope.start_ns)};
    append_times(cells, time, is_known);
    cells.emplace_back(is_known ? optional_ns(scope.self_running_ns) : optional_ns());
    cells.emplace_back(text_cell(ends_of_scope(scope)));
    cells.emplace_back(text_cell(site_place(loaded, scope.site)));
    return cells;
}

/// The scopes of the task by time, indented below the scopes around them.
listing list_task_scopes(const trace& loaded, std::uint32_t task) {
    listing list;
    list.columns = {{"Scope", "name", cell_kind::outline},
                    {"Kind", "kind", cell_kind::text},
                    {"From", "start_ns", cell_kind::moment},
                    {"Running", "running_ns", cell_kind::time},
                    {"Suspended", "suspended_ns", cell_kind::time},
                    {"Queued", "queued_ns", cell_kind::time},
                    {"Waiting", "waiting_ns", cell_kind::time},
                    {"Wall", "wall_ns", cell_kind::time},
                    {"Self", "self_ns", cell_kind::time},
                    {"Ends", "ends", cell_kind::text},
                    {"At", "place", cell_kind::source}};
    for (const event& scope : loaded.events)
        if (scope.task == task) list.rows.push_back(row_of_scope(loaded, scope));
    return list;
}

}  // namespace

std::string task_text(const trace& loaded, std::uint32_t index, const listing_options& options) {
    const task_info& task = loaded.tasks[index];
    const listing awaits = list_task_awaits(loaded, index);
    const listing slices = list_task_slices(loaded, index);
    const listing scopes = list_task_scopes(loaded, index);
    const moment_format moments = moments_of(task, {&awaits, &slices, &scopes}, options.unit);
    std::string text;
    const auto line = [&text](std::string_view heading, std::string_view value) {
        text += fmt::format("{:<12}{}\n", heading, value);
    };
    const std::string place = site_place(loaded, task.spawn_site);
    line("Task", other_task(loaded, index));
    line("Kind", kind_of(task));
    line("At", place.empty() ? "unknown" : printable(place));
    const std::string spawned_at = spawn_place_text(loaded, task.spawn_place);
    line("Spawned at", spawned_at.empty() ? "unknown" : printable(spawned_at));
    const bool known = !is_named_only(task);
    if (const std::uint32_t bytes = frame_bytes(loaded, task); bytes != 0)
        line("Frame", fmt::format("{} bytes, rounded up to 64", bytes));
    line("State", state_of(task));
    line("Parent", other_task(loaded, task.parent));
    line("Awaiter", task.awaiter == none ? "not recorded" : other_task(loaded, task.awaiter));
    line("Spawned",
         task.older_than_session ? "before the session" : moment(task.spawn_ns, moments));
    line("First wake", never_ready(task) ? "none" : moment(task.first_wake_ns, moments));
    line("Ended", task.end_ns || !known ? moment(task.end_ns, moments) : "not within the session");
    line("Wall", never_ready(task) ? "0 ns, cancelled before it ran"
                 : known ? split_text(task.time.wall_ns(), task.time, states_of(loaded, task))
                         : "unknown");
    if (const device_work work = work_of_task(loaded, index); !work.empty())
        line("On devices", work_text(loaded, work));
    if (task.losses) line("Losses", "records of it were lost; gaps count as waiting");
    text.append("\n").append(to_text(awaits, options, moments));
    text.append("\n").append(to_text(slices, options, moments));
    if (!scopes.rows.empty()) text.append("\n").append(to_text(scopes, options, moments));
    if (const listing waits = list_task_waits(loaded, index); !waits.rows.empty())
        text.append("\n").append(to_text(waits, options, moments));
    return text;
}

std::string task_json(const trace& loaded, std::uint32_t index) {
    const task_info& task = loaded.tasks[index];
    json_writer json;
    json.begin_object();
    json.member("task", task.id).member("name", site_name(loaded, task.spawn_site));
    json.member("place", site_place(loaded, task.spawn_site));
    json.key("spawned_at");
    if (const std::string from = spawn_place_text(loaded, task.spawn_place); from.empty())
        json.null();
    else
        json.string(from);
    json.member("kind", kind_of(task)).member("state", state_of(task));
    const std::uint32_t bytes = frame_bytes(loaded, task);
    json.member("frame_bytes", bytes == 0 ? optional_ns() : optional_ns(bytes));
    write_index(json, "parent", loaded, task.parent);
    write_index(json, "awaiter", loaded, task.awaiter);
    json.member("older_than_session", task.older_than_session).member("losses", task.losses);
    json.member("spawn_ns", task.spawn_ns).member("first_wake_ns", task.first_wake_ns);
    json.member("end_ns", task.end_ns).member("spawn_to_wake_ns", task.spawn_to_wake_ns);
    const time_split& time = task.time;
    const auto known = [named_only = is_named_only(task)](optional_ns part_ns) {
        return named_only ? std::nullopt : part_ns;
    };
    json.member("running_ns", known(time.running_ns));
    if (loaded.states.any()) write_states(json, states_of(loaded, task), is_named_only(task));
    json.member("suspended_ns", known(known_part(time, time.suspended_ns)));
    json.member("queued_ns", known(known_part(time, time.queued_ns)));
    json.member("waiting_ns", known(time.waiting_ns)).member("wall_ns", known(time.wall_ns()));
    write_devices(json, loaded, work_of_task(loaded, index));
    json.key("awaits");
    write_rows(json, list_task_awaits(loaded, index));
    json.key("slices");
    write_rows(json, list_task_slices(loaded, index));
    json.key("waits");
    write_rows(json, list_task_waits(loaded, index));
    json.key("scopes");
    write_rows(json, list_task_scopes(loaded, index));
    json.end();
    return std::move(json).take();
}

}  // namespace coroscope::analysis
