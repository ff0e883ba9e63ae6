// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <map>
#include <utility>

#include <fmt/format.h>

#include "../../words/await_names.hpp"
#include "../../words/places.hpp"
#include "device_text.hpp"
#include "figure.hpp"

namespace coroscope::analysis {
namespace {

using row = std::vector<listing_cell>;

/// Returns for each await site the name of the scope that encloses most of its awaits.
std::map<std::uint32_t, std::string> enclosing_scopes(const trace& loaded) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> counts;  // by site and name
    for (const await_info& await : loaded.awaits) {
        if (await.scope < loaded.events.size())
            ++counts[{await_place(loaded, await), loaded.events[await.scope].name}];
    }
    std::map<std::uint32_t, std::string> names;
    std::map<std::uint32_t, std::uint64_t> most;
    for (const auto& [pair, count] : counts) {
        if (count <= most[pair.first] || pair.second >= loaded.strings.size()) continue;
        most[pair.first] = count;
        names[pair.first] = loaded.strings[pair.second];
    }
    return names;
}

void append_times(row& cells, const await_times& times) {
    const std::size_t first = cells.size();
    cells.emplace_back(optional_ns(times.total_ns()));
    append_wait(cells, times);
    if (times.noticed_wakes != 0) cells[cells.size() - 2] = at_least{times.queued_ns};
    if (times.partial == 0) return;
    for (std::size_t at = first; at < cells.size(); ++at)
        if (const auto* known = std::get_if<optional_ns>(&cells[at]); known && *known)
            cells[at] = at_least{**known};
}

void append_wakes(row& cells, const await_times& times) {
    for (const std::uint64_t count :
         {times.unknown_wakes, times.wakes_by_resume, times.unfinished, times.partial})
        cells.emplace_back(figure(count));
}

/// How the awaits ended.
void append_outcome_columns(listing& list) {
    list.columns.push_back({"Value", "values", cell_kind::count});
    list.columns.push_back({"Error", "errors", cell_kind::count});
    list.columns.push_back({"Exception", "exceptions", cell_kind::count});
    list.columns.push_back({"Cancelled", "cancelled", cell_kind::count});
    list.columns.push_back({"Outcome unknown", "unknown_outcomes", cell_kind::count});
}

void append_outcomes(row& cells, const await_times& times) {
    using coroscope::trace::await_outcome;
    for (const await_outcome outcome :
         {await_outcome::value, await_outcome::error, await_outcome::exception,
          await_outcome::cancelled, await_outcome::unknown})
        cells.emplace_back(figure(times.ended_by(outcome)));
}

/// "2 socket, 1 timer": the number of objects of each kind.
std::string objects_text(const trace& loaded, const std::vector<std::uint32_t>& objects) {
    std::map<std::string, std::uint64_t> counts;
    for (const std::uint32_t object : objects)
        if (object < loaded.objects.size()) ++counts[object_kind_name(loaded.objects[object])];
    std::string text;
    for (const auto& [kind, count] : counts)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, kind);
    return text;
}

bool tells_of_devices(const trace& loaded) { return !loaded.device_waits.empty(); }

/// Appends columns for the part of the suspensions that the awaited streams explain.
void append_device_columns(listing& list) {
    list.columns.push_back({"On device", "device_ns", cell_kind::time});
    list.columns.push_back({"Device queue", "device_queued_ns", cell_kind::time});
}

void append_devices(row& cells, const await_times& times) {
    if (times.device_waits == 0) {
        cells.emplace_back(not_applicable());
        cells.emplace_back(not_applicable());
        return;
    }
    cells.emplace_back(optional_ns(times.device_ns));
    cells.emplace_back(times.device_queued_ns);
}

std::string chain_text(const trace& loaded, const await_chain& chain) {
    std::string text;
    for (const std::uint32_t site : chain.sites) {
        if (!text.empty()) text += " > ";
        text += site_name(loaded, site);
    }
    return text;
}

}  // namespace

listing list_await_sites(const trace& loaded,
                         const std::vector<await_site_statistics>& statistics) {
    listing list;
    list.columns = {{"Await", "name", cell_kind::text},
                    {"In scope", "scope", cell_kind::text},
                    {"Count", "count", cell_kind::count},
                    {"Total", "total_ns", cell_kind::time},
                    {"Suspended", "suspended_ns", cell_kind::time},
                    {"Queued", "queued_ns", cell_kind::time},
                    {"Waiting", "waiting_ns", cell_kind::time},
                    {"p50", "p50_ns", cell_kind::time},
                    {"p99", "p99_ns", cell_kind::time},
                    {"Max", "max_ns", cell_kind::time},
                    {"Wake unseen", "unknown_wakes", cell_kind::count},
                    {"Wake by resume", "wakes_by_resume", cell_kind::count},
                    {"Not resumed", "unfinished", cell_kind::count},
                    {"Partial", "partial", cell_kind::count},
                    {"At", "place", cell_kind::source}};
    const bool outcomes = knows_outcomes(loaded);
    const bool objects = !loaded.objects.empty();
    if (outcomes) append_outcome_columns(list);
    if (objects) list.columns.push_back({"Objects", "objects", cell_kind::text});
    const bool devices = tells_of_devices(loaded);
    if (devices) {
        append_device_columns(list);
        list.columns.push_back({"Waited for", "waited_for", cell_kind::sentence});
    }
    const std::map<std::uint32_t, std::string> scopes = enclosing_scopes(loaded);
    for (const await_site_statistics& each : statistics) {
        const auto scope = scopes.find(each.site);
        row cells{each.name, scope != scopes.end() ? scope->second : std::string(),
                  figure(each.times.count)};
        append_times(cells, each.times);
        for (const std::int64_t length :
             {each.length.p50_ns, each.length.p99_ns, each.length.max_ns}) {
            cells.emplace_back(each.length.count != 0 ? optional_ns(length) : std::nullopt);
        }
        append_wakes(cells, each.times);
        cells.emplace_back(site_place(loaded, each.site));
        if (outcomes) append_outcomes(cells, each.times);
        if (objects) cells.emplace_back(objects_text(loaded, each.objects));
        if (devices) {
            append_devices(cells, each.times);
            if (each.devices.empty())
                cells.emplace_back(not_applicable());
            else
                cells.emplace_back(wait_text(loaded, each.devices, each.times.device_queued_ns));
        }
        list.rows.push_back(std::move(cells));
    }
    return list;
}

listing list_await_chains(const trace& loaded, const std::vector<await_chain>& chains) {
    listing list;
    list.columns = {{"Total", "total_ns", cell_kind::time},
                    {"Suspended", "suspended_ns", cell_kind::time},
                    {"Queued", "queued_ns", cell_kind::time},
                    {"Waiting", "waiting_ns", cell_kind::time},
                    {"Count", "count", cell_kind::count},
                    {"Wake unseen", "unknown_wakes", cell_kind::count},
                    {"Wake by resume", "wakes_by_resume", cell_kind::count},
                    {"Not resumed", "unfinished", cell_kind::count},
                    {"Partial", "partial", cell_kind::count},
                    {"Innermost at", "place", cell_kind::source},
                    {"Chain", "chain", cell_kind::text}};
    if (tells_of_devices(loaded)) append_device_columns(list);
    for (const await_chain& each : chains) {
        row cells;
        append_times(cells, each.times);
        cells.emplace_back(figure(each.times.count));
        append_wakes(cells, each.times);
        cells.emplace_back(each.sites.empty() ? std::string()
                                              : site_place(loaded, each.sites.back()));
        cells.emplace_back(chain_text(loaded, each));
        if (tells_of_devices(loaded)) append_devices(cells, each.times);
        list.rows.push_back(std::move(cells));
    }
    return list;
}

}  // namespace coroscope::analysis
