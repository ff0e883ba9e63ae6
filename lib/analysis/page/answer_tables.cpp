// SPDX-License-Identifier: Apache-2.0
#include "answer_tables.hpp"

#include <map>
#include <tuple>

#include <coroscope/analysis/await_blame.hpp>
#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/blocking_statistics.hpp>
#include <coroscope/analysis/lock_statistics.hpp>
#include <coroscope/analysis/resource_statistics.hpp>
#include <coroscope/analysis/stream_statistics.hpp>
#include <coroscope/analysis/task_statistics.hpp>
#include <coroscope/analysis/value_statistics.hpp>
#include <coroscope/analysis/views.hpp>
#include <fmt/format.h>

#include "../executors/executor_runs.hpp"
#include "../text/utf8.hpp"
#include "../words/await_names.hpp"
#include "row_evidence.hpp"

namespace coroscope::analysis::inline pages {
namespace {

std::string_view name_of_cells(cell_kind kind) {
    switch (kind) {
        case cell_kind::text: return "text";
        case cell_kind::source: return "source";
        case cell_kind::sentence: return "sentence";
        case cell_kind::count: return "count";
        case cell_kind::number: return "number";
        case cell_kind::hundredths: return "hundredths";
        case cell_kind::time: return "time";
        case cell_kind::outline: return "outline";
        case cell_kind::moment: break;
    }
    return "moment";
}

std::string site_member(const trace& from, std::uint32_t site) {
    return site < from.sites.size() ? fmt::format("\"site\":{}", site) : std::string();
}

std::string with_evidence(const trace& from, std::string member, const row_evidence& evidence) {
    if (!member.empty()) member += ',';
    return fmt::format("{{{}\"histogram\":{},\"longest\":{}}}", member, evidence.lengths().json(),
                       evidence.longest_json(from));
}

std::string awaits_answer(const trace& from) {
    std::vector<row_evidence> of_sites(from.sites.size() + 1);
    for (const await_info& await : from.awaits) {
        const std::size_t site = std::min<std::size_t>(await_place(from, await), from.sites.size());
        const evidence_moment moment{await.suspend_ns, split_of(from, await).wall_ns(), await.task,
                                     none};
        if (await.resume_ns)
            of_sites[site].add(moment);
        else
            of_sites[site].keep(moment);
    }
    const auto statistics = await_statistics(from);
    std::vector<std::string> links;
    for (const await_site_statistics& each : statistics)
        links.push_back(
            with_evidence(from, site_member(from, each.site),
                          of_sites[std::min<std::size_t>(each.site, from.sites.size())]));
    return answer_json(list_await_sites(from, statistics), links);
}

std::string tasks_answer(const trace& from) {
    std::map<std::uint32_t, row_evidence> of_sites;
    for (std::uint32_t at = 0; at < from.tasks.size(); ++at) {
        const task_info task = from.tasks[at];
        if (!task.first_wake_ns) continue;
        const evidence_moment moment{*task.first_wake_ns, task.time.wall_ns(), at, none};
        if (task.end_ns && !task.older_than_session)
            of_sites[task.spawn_site].add(moment);
        else
            of_sites[task.spawn_site].keep(moment);
    }
    const auto statistics = task_statistics(from);
    std::vector<std::string> links;
    for (const task_site_statistics& each : statistics)
        links.push_back(with_evidence(from, site_member(from, each.site), of_sites[each.site]));
    return answer_json(list_task_sites(from, statistics), links);
}

std::string executors_answer(const trace& from) {
    std::vector<row_evidence> of_executors(from.executors.size());
    for (const queued_job& each : find_queued_jobs(from))
        if (each.executor < of_executors.size())
            of_executors[each.executor].add({each.from_ns, each.to_ns - each.from_ns, none, none});
    const auto statistics = statistics_of_executors(from);
    std::vector<std::string> links;
    for (const executor_statistics& each : statistics)
        links.push_back(with_evidence(from, fmt::format("\"executor\":{}", each.executor),
                                      of_executors[each.executor]));
    return answer_json(list_executors(from, statistics), links);
}

std::string locks_answer(const trace& from) {
    std::map<std::pair<std::uint64_t, coroscope::trace::lock_kind>, row_evidence> of_locks;
    for (const lock_wait& each : from.lock_waits)
        of_locks[{each.address, each.kind}].add(
            {each.start_ns, each.end_ns - each.start_ns, each.waiter.task, each.waiter.thread});
    const auto statistics = statistics_of_locks(from);
    std::vector<std::string> links;
    for (const lock_statistics& each : statistics) {
        row_evidence evidence;
        if (each.samples)
            evidence.keep({each.worst.start_ns, each.worst.end_ns - each.worst.start_ns,
                           each.worst.waiter.task, each.worst.waiter.thread});
        else
            evidence = of_locks[{each.address, each.kind}];
        links.push_back(
            with_evidence(from, fmt::format("\"address\":\"{:#x}\"", each.address), evidence));
    }
    return answer_json(list_locks(from, statistics), links);
}

std::string resources_answer(const trace& from) {
    std::map<std::uint32_t, row_evidence> of_sites;
    for (const resource_wait& each : from.resource_waits)
        of_sites[each.site].add(
            {each.start_ns, each.end_ns - each.start_ns, each.task, each.thread});
    const auto statistics = statistics_of_resources(from);
    std::vector<std::string> links;
    for (const resource_statistics& each : statistics)
        links.push_back(with_evidence(from, site_member(from, each.site), of_sites[each.site]));
    return answer_json(list_resources(from, statistics), links);
}

std::string blocking_answer(const trace& from) {
    const auto key = [](const blocking_statistics& of) {
        return std::tuple(of.function, of.descriptor, of.scope, of.spawn_site);
    };
    std::map<decltype(key(blocking_statistics())), row_evidence> of_calls;
    for (const blocking_call& each : from.blocking_calls) {
        const std::uint32_t scope =
            each.scope < from.events.size() ? from.events[each.scope].name : none;
        const std::uint32_t site =
            each.task < from.tasks.size() ? from.tasks[each.task].spawn_site : none;
        of_calls[{each.function, each.descriptor, scope, site}].add(
            {each.start_ns, each.end_ns - each.start_ns, each.task, each.thread});
    }
    const auto statistics = statistics_of_blocking_calls(from);
    std::vector<std::string> links;
    for (const blocking_statistics& each : statistics)
        links.push_back(
            with_evidence(from, site_member(from, each.spawn_site), of_calls[key(each)]));
    return answer_json(list_blocking_calls(from, statistics), links);
}

std::string blame_answer(const trace& from) {
    const auto blame = blame_of_awaits(from);
    std::vector<std::string> links;
    for (const await_blame& each : blame)
        links.push_back('{' + site_member(from, each.waiting_site) + '}');
    return answer_json(list_await_blame(from, blame), links);
}

std::string values_answer(const trace& from) {
    const auto values = statistics_of_values(from);
    std::vector<std::string> links;
    for (const value_statistics& each : values)
        links.push_back('{' + site_member(from, each.site) + '}');
    return answer_json(list_values(from, values), links);
}

}  // namespace

std::string answer_json(listing list, const std::vector<std::string>& links) {
    const std::size_t all = list.rows.size();
    const auto shown = std::min(all, static_cast<std::size_t>(most_answer_rows));
    list.rows.resize(shown);
    std::string out = "{\"columns\":[";
    for (const listing_column& each : list.columns) {
        out += out.ends_with('[') ? "{\"key\":" : ",{\"key\":";
        append_json_string(out, each.key);
        out += ",\"heading\":";
        append_json_string(out, each.heading);
        out.append(",\"kind\":\"").append(name_of_cells(each.kind)).append("\"}");
    }
    out += "],\"rows\":" + to_json(list) + ",\"links\":[";
    for (std::size_t row = 0; row < shown; ++row) {
        out += row == 0 ? "" : ",";
        out += row < links.size() ? links[row] : "{}";
    }
    return out + fmt::format("],\"of\":{}}}", all);
}

std::string answers_json(const page_input& input) {
    const trace& from = input.from;
    return fmt::format(
        "{{\"scopes\":{},\n\"awaits\":{},\n\"chains\":{},\n\"blame\":{},\n\"executors\":{},\n"
        "\"locks\":{},\n\"resources\":{},\n\"blocking\":{},\n\"tasks\":{},\n\"values\":{},\n"
        "\"attributes\":{},\n\"streams\":{},\n\"device_ranges\":{}}}",
        scope_answer_json(from), awaits_answer(from),
        answer_json(list_await_chains(from, await_chains(from))), blame_answer(from),
        executors_answer(from), locks_answer(from), resources_answer(from), blocking_answer(from),
        tasks_answer(from), values_answer(from),
        answer_json(list_attributes(statistics_of_attributes(from))),
        answer_json(list_streams(statistics_of_streams(from))),
        answer_json(list_device_ranges(from)));
}

}  // namespace coroscope::analysis::inline pages
