// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <algorithm>
#include <utility>

#include "../../words/await_names.hpp"
#include "request_cells.hpp"

namespace coroscope::analysis {
namespace {

using row = std::vector<listing_cell>;

listing_cell late_text(const request_info& request) {
    if (!request.deadline_ns) return not_applicable();
    return std::string(request.is_late() ? "yes" : "no");
}

/// Returns at most `limit` requests, the slowest first; -1: all.
std::vector<request_info> slowest_of(const request_list& list, std::int64_t limit) {
    std::vector<request_info> found = list.requests;
    std::ranges::stable_sort(found, std::ranges::greater(), &request_info::wall_ns);
    if (limit >= 0 && static_cast<std::size_t>(limit) < found.size())
        found.resize(static_cast<std::size_t>(limit));
    return found;
}

row scope_row(const trace& loaded, std::uint32_t index) {
    const event& scope = loaded.events[index];
    return {loaded.strings[scope.name], std::string("scope"), task_id(loaded, scope.task)};
}

row await_row(const trace& loaded, std::uint32_t index) {
    const await_info& await = loaded.awaits[index];
    return {await_title(loaded, await), std::string("await"), task_id(loaded, await.task)};
}

row task_row(const trace& loaded, std::uint32_t index) {
    return {site_name(loaded, loaded.tasks[index].spawn_site), std::string("task"),
            task_id(loaded, index)};
}

/// Returns a scope or a task as a request, so that times_of_requests() computes its time.
request_info as_request(const request_step& step) {
    request_info request;
    if (step.kind == request_step_kind::scope)
        request.event = step.index;
    else
        request.task = step.index;
    request.start_ns = step.start_ns;
    request.end_ns = step.end_ns;
    return request;
}

/// Returns the time of a step. An await does not run. The wall time of a task is its own.
request_time time_of_step(const trace& loaded, const request_step& step,
                          const request_time& of_work) {
    request_time time = of_work;
    if (step.kind == request_step_kind::await) {
        time = {};
        time.time = split_of(loaded, loaded.awaits[step.index]);
    }
    if (step.kind != request_step_kind::scope) time.wall_ns = time.time.wall_ns();
    return time;
}

std::uint32_t site_of_step(const trace& loaded, const request_step& step) {
    switch (step.kind) {
        case request_step_kind::scope: return loaded.events[step.index].site;
        case request_step_kind::await: return await_place(loaded, loaded.awaits[step.index]);
        case request_step_kind::task: break;
    }
    return loaded.tasks[step.index].spawn_site;
}

row step_row(const trace& loaded, const request_step& step, const request_time& time) {
    row cells = step.kind == request_step_kind::scope   ? scope_row(loaded, step.index)
                : step.kind == request_step_kind::await ? await_row(loaded, step.index)
                                                        : task_row(loaded, step.index);
    cells.emplace_back(optional_ns(step.depth));
    cells.emplace_back(optional_ns(step.start_ns));
    append_request_time(cells, loaded, time);
    const bool waits = step.kind == request_step_kind::await;
    cells.emplace_back(waits ? task_id(loaded, loaded.awaits[step.index].waker)
                             : listing_cell(not_applicable()));
    cells.emplace_back(site_place(loaded, site_of_step(loaded, step)));
    return cells;
}

}  // namespace

listing list_request_types(const trace& loaded, const request_list& list,
                           const std::vector<request_type>& types) {
    listing out;
    out.columns = {{"Request", "name", cell_kind::text},
                   {"Count", "count", cell_kind::count},
                   {"Per second", "per_second", cell_kind::number},
                   {"Failed", "failed", cell_kind::count},
                   {"Late", "late", cell_kind::count},
                   {"p50", "p50_ns", cell_kind::time},
                   {"p90", "p90_ns", cell_kind::time},
                   {"p99", "p99_ns", cell_kind::time},
                   {"p99.9", "p99_9_ns", cell_kind::time},
                   {"Max", "max_ns", cell_kind::time},
                   {"Total", "total_ns", cell_kind::time},
                   {"Abandoned", "abandoned", cell_kind::count},
                   {"Unfinished", "unfinished", cell_kind::count},
                   {"At", "place", cell_kind::source}};
    const bool sampled = loaded.sampling.is_on();
    if (sampled) out.columns.push_back({"In full", "in_full", cell_kind::count});
    for (const request_type& each : types) {
        row cells{each.name, figure(each.count), each.per_second};
        cells.emplace_back(list.failures_known ? figure(each.failed) : optional_ns());
        if (each.with_deadline == 0)
            cells.emplace_back(not_applicable());
        else
            cells.emplace_back(figure(each.late));
        for (const request_percentile& percentile : each.percentiles)
            cells.emplace_back(optional_ns(percentile.time.wall_ns));
        if (each.percentiles.empty()) cells.resize(cells.size() + 5, not_applicable());
        cells.emplace_back(optional_ns(each.total_ns));
        cells.emplace_back(figure(each.abandoned));
        cells.emplace_back(figure(each.unfinished));
        cells.emplace_back(site_place(loaded, each.site));
        if (sampled) cells.emplace_back(figure(each.in_full));
        out.rows.push_back(std::move(cells));
    }
    return out;
}

listing list_request_percentiles(const trace& loaded, const std::vector<request_type>& types) {
    listing out;
    out.columns = {{"Request", "name", cell_kind::text},
                   {"Percentile", "percentile", cell_kind::text},
                   {"Id", "request", cell_kind::count}};
    append_request_columns(out.columns, loaded);
    const bool sampled = loaded.sampling.is_on();
    if (sampled) out.columns.push_back({"Of", "in_full", cell_kind::count});
    for (const request_type& type : types) {
        for (const request_percentile& each : type.parts) {
            row cells{type.name, std::string(each.name), figure(each.id)};
            append_request_time(cells, loaded, each.time);
            if (sampled) cells.emplace_back(figure(type.in_full));
            out.rows.push_back(std::move(cells));
        }
    }
    return out;
}

listing list_slowest_requests(const trace& loaded, const request_list& list, std::int64_t limit) {
    listing out;
    out.columns = {{"Id", "request", cell_kind::count},
                   {"Request", "name", cell_kind::text},
                   {"From", "start_ns", cell_kind::moment}};
    append_request_columns(out.columns, loaded);
    out.columns.insert(out.columns.end(), {{"End", "end", cell_kind::text},
                                           {"Late", "late", cell_kind::text},
                                           {"Task", "task", cell_kind::count}});
    const bool sampled = loaded.sampling.is_on();
    if (sampled) out.columns.push_back({"Recorded", "recorded", cell_kind::text});
    const std::vector<request_info> slowest = slowest_of(list, limit);
    const std::vector<request_time> times = times_of_requests(loaded, slowest);
    for (std::size_t at = 0; at < slowest.size(); ++at) {
        const request_info& each = slowest[at];
        row cells{figure(each.id), request_name(loaded, each), optional_ns(each.start_ns)};
        append_request_time(cells, loaded, times[at]);
        const bool known = list.failures_known || each.end != request_end::completed;
        cells.emplace_back(std::string(known ? end_text(each) : "ended"));
        cells.emplace_back(late_text(each));
        cells.emplace_back(task_id(loaded, each.task));
        if (sampled) cells.emplace_back(std::string(extent_text(each)));
        out.rows.push_back(std::move(cells));
    }
    return out;
}

listing list_request_steps(const trace& loaded, const request_info& request) {
    listing out;
    out.columns = {{"Step", "name", cell_kind::outline},
                   {"Kind", "kind", cell_kind::text},
                   {"Task", "task", cell_kind::count},
                   {"Depth", "depth", cell_kind::count},
                   {"From", "start_ns", cell_kind::moment}};
    append_request_columns(out.columns, loaded);
    out.columns.push_back({"Woken by task", "waker", cell_kind::count});
    out.columns.push_back({"At", "place", cell_kind::source});
    const std::vector<request_step> steps = steps_of_request(loaded, request);
    std::vector<request_info> work;
    for (const request_step& each : steps) work.push_back(as_request(each));
    const std::vector<request_time> times = times_of_requests(loaded, work);
    for (std::size_t at = 0; at < steps.size(); ++at)
        out.rows.push_back(step_row(loaded, steps[at], time_of_step(loaded, steps[at], times[at])));
    return out;
}

}  // namespace coroscope::analysis
