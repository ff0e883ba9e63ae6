// SPDX-License-Identifier: Apache-2.0

// All facts of one request.

#include <coroscope/analysis/views.hpp>

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../text/json_writer.hpp"
#include "../../text/utf8.hpp"
#include "../../words/split_text.hpp"
#include "../listing/listing.hpp"
#include "../listing/moments.hpp"
#include "../listing/request_cells.hpp"

namespace coroscope::analysis {
namespace {

std::string extent_of(const trace& loaded, const request_info& request) {
    if (request.event >= loaded.events.size()) return "the whole task";
    return (loaded.events[request.event].flags & event_explicit) != 0 ? "a range" : "a scope";
}

std::string deadline_text(const request_info& request) {
    if (!request.deadline_ns) return "none";
    return fmt::format("{}, {}", format_span(*request.deadline_ns),
                       request.is_late() ? "missed" : "kept");
}

std::string task_of_request(const trace& loaded, const request_info& request) {
    if (request.task >= loaded.tasks.size()) return "none";
    const task_info& task = loaded.tasks[request.task];
    return fmt::format("{} ({})", task.id, printable(site_name(loaded, task.spawn_site)));
}

void write_known_states(json_writer& json, const request_time& time) {
    const state_times& times = time.states;
    const bool nothing = !time.known || (times.known_ns() == 0 && times.unknown_ns != 0);
    const auto known = [nothing](std::int64_t part_ns) {
        return nothing ? std::nullopt : optional_ns(part_ns);
    };
    json.member("on_cpu_ns", known(times.on_cpu_ns)).member("blocked_ns", known(times.blocked_ns));
    json.member("preempted_ns", known(times.preempted_ns));
    json.member("unknown_state_ns", time.known ? optional_ns(times.unknown_ns) : std::nullopt);
}

void write_parts(json_writer& json, const trace& loaded, const request_time& time) {
    const time_split& parts = time.time;
    json.member("wall_ns", time.wall_ns);
    json.member("running_ns", time.known ? optional_ns(parts.running_ns) : std::nullopt);
    if (loaded.states.any()) write_known_states(json, time);
    json.member("suspended_ns", time.known ? known_part(parts, parts.suspended_ns) : std::nullopt);
    json.member("queued_ns", time.known ? known_part(parts, parts.queued_ns) : std::nullopt);
    json.member("waiting_ns", time.known ? optional_ns(parts.waiting_ns) : std::nullopt);
}

}  // namespace

std::string request_text(const trace& loaded, const request_list& list, std::size_t at,
                         const listing_options& options) {
    const request_info& request = list.requests[at];
    const request_time time = times_of_requests(loaded, {&request, 1}).front();
    const listing steps = list_request_steps(loaded, request);
    std::vector<std::int64_t> shown = moments_of(steps);
    shown.push_back(request.start_ns);
    const moment_format moments(std::move(shown), options.unit);
    std::string text;
    const auto line = [&text](std::string_view heading, std::string_view value) {
        text += fmt::format("{:<12}{}\n", heading, value);
    };
    const std::string place = site_place(loaded, request.site);
    line("Request", fmt::format("{} ({}{})", request.id, printable(request_name(loaded, request)),
                                list.guessed ? ", guessed: the program marks no request" : ""));
    line("Marked at", place.empty() ? "unknown" : printable(place));
    line("Is", extent_of(loaded, request));
    line("Task", task_of_request(loaded, request));
    line("From", moments.text(request.start_ns));
    line("Wall", time.known ? split_text(time.wall_ns, time.time, time.states)
                            : unknown_split_text(time.wall_ns));
    if (loaded.sampling.is_on())
        line("Recorded", request.left_out ? "left out: nothing but the request itself" : "in full");
    const bool known = list.failures_known || request.end != request_end::completed;
    line("End", known ? end_text(request) : "ended; whether it failed is unknown");
    line("Deadline", deadline_text(request));
    if (request.clipped) line("Clipped", "it began before the session");
    const auto chosen =
        arranged(steps, {.sort_by = options.sort_by, .row_limit = options.row_limit});
    const listing& rows = chosen ? *chosen : steps;
    text.append("\n").append(to_text(rows, options, moments));
    if (rows.rows.size() < steps.rows.size())
        text += fmt::format("{} of {} rows; --limit -1 shows all\n", rows.rows.size(),
                            steps.rows.size());
    return text;
}

std::string request_json(const trace& loaded, const request_list& list, std::size_t at) {
    const request_info& request = list.requests[at];
    const request_time time = times_of_requests(loaded, {&request, 1}).front();
    json_writer json;
    json.begin_object();
    json.member("request", request.id).member("name", request_name(loaded, request));
    json.member("guessed", list.guessed).member("place", site_place(loaded, request.site));
    json.key("task");
    if (request.task < loaded.tasks.size())
        json.integer(loaded.tasks[request.task].id);
    else
        json.null();
    json.member("start_ns", request.start_ns);
    json.key("end");
    if (list.failures_known || request.end != request_end::completed)
        json.string(end_text(request));
    else
        json.null();
    json.member("clipped", request.clipped).member("deadline_ns", request.deadline_ns);
    json.key("late");
    if (request.deadline_ns)
        json.boolean(request.is_late());
    else
        json.null();
    if (loaded.sampling.is_on()) json.member("left_out", request.left_out);
    write_parts(json, loaded, time);
    json.key("steps");
    write_rows(json, list_request_steps(loaded, request));
    json.end();
    return std::move(json).take();
}

}  // namespace coroscope::analysis
