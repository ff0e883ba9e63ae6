// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <map>
#include <utility>

#include "device_text.hpp"
#include "figure.hpp"
#include "places.hpp"

namespace coroscope::analysis {
namespace {

using render::figure;
using render::site_name;
using render::site_place;

using row = std::vector<listing_cell>;

/// Of each await site the name of the scope that encloses most of its awaits.
std::map<std::uint32_t, std::string> enclosing_scopes(const trace& loaded) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> counts;  // site, name
    for (const await_info& await : loaded.awaits) {
        if (await.scope < loaded.events.size())
            ++counts[{await.site, loaded.events[await.scope].name}];
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
    cells.emplace_back(optional_ns(times.total_ns()));
    render::append_wait(cells, times);
}

bool tells_of_devices(const trace& loaded) { return !loaded.device_waits.empty(); }

/// How much of the suspensions the streams explain that they waited for.
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
                    {"Not resumed", "unfinished", cell_kind::count},
                    {"At", "place", cell_kind::source}};
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
        cells.emplace_back(figure(each.times.unknown_wakes));
        cells.emplace_back(figure(each.times.unfinished));
        cells.emplace_back(site_place(loaded, each.site));
        if (devices) {
            append_devices(cells, each.times);
            if (each.devices.empty())
                cells.emplace_back(not_applicable());
            else
                cells.emplace_back(
                    render::wait_text(loaded, each.devices, each.times.device_queued_ns));
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
                    {"Not resumed", "unfinished", cell_kind::count},
                    {"Innermost at", "place", cell_kind::source},
                    {"Chain", "chain", cell_kind::text}};
    if (tells_of_devices(loaded)) append_device_columns(list);
    for (const await_chain& each : chains) {
        row cells;
        append_times(cells, each.times);
        for (const std::uint64_t count :
             {each.times.count, each.times.unknown_wakes, each.times.unfinished})
            cells.emplace_back(figure(count));
        cells.emplace_back(each.sites.empty() ? std::string()
                                              : site_place(loaded, each.sites.back()));
        cells.emplace_back(chain_text(loaded, each));
        if (tells_of_devices(loaded)) append_devices(cells, each.times);
        list.rows.push_back(std::move(cells));
    }
    return list;
}

}  // namespace coroscope::analysis
