// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "../../text/utf8.hpp"
#include "../../words/places.hpp"
#include "figure.hpp"
#include "lock_text.hpp"

namespace coroscope::analysis {
namespace {

using row = std::vector<listing_cell>;
using dated_rows = std::vector<std::pair<std::int64_t, row>>;

listing_cell at_least_if(bool more, std::int64_t time_ns) {
    return more ? listing_cell(at_least{time_ns}) : listing_cell(optional_ns(time_ns));
}

/// Returns the time to the release, which does not apply if the wait ended without the lock.
listing_cell release_cell(optional_ns until_ns, bool gave_up) {
    return gave_up ? listing_cell(not_applicable()) : listing_cell(until_ns);
}

void add_lock_waits_of(const trace& loaded, std::uint32_t task, dated_rows& rows) {
    for (const lock_wait& each : loaded.lock_waits) {
        if (each.waiter.task != task) continue;
        row cells{lock_text(each), optional_ns(each.start_ns)};
        cells.push_back(at_least_if(each.began_before, each.end_ns - each.start_ns));
        cells.emplace_back(holder_text(loaded, each));
        cells.push_back(release_cell(each.arrival_to_release_ns(), each.gave_up));
        cells.emplace_back(std::string(each.gave_up ? "gave up" : "locked"));
        rows.emplace_back(each.start_ns, std::move(cells));
    }
}

std::string resource_holder_text(const trace& loaded, const resource_wait& wait) {
    if (!wait.holder_known) return "unknown";
    if (wait.holder_task < loaded.tasks.size() && wait.holder_thread == none)
        return fmt::format("task {}", loaded.tasks[wait.holder_task].id);
    return thread_work_text(loaded, {wait.holder_thread, wait.holder_task, wait.holder_scope});
}

void add_resource_waits_of(const trace& loaded, std::uint32_t task, dated_rows& rows) {
    for (const resource_wait& each : loaded.resource_waits) {
        if (each.task != task) continue;
        const site_info* const site = find_site(loaded, each.site);
        row cells{fmt::format("{} {}", site == nullptr ? "resource" : printable(site->category),
                              printable(site_name(loaded, each.site)))};
        cells.emplace_back(optional_ns(each.start_ns));
        cells.push_back(at_least_if(each.clipped, each.end_ns - each.start_ns));
        cells.emplace_back(resource_holder_text(loaded, each));
        const optional_ns until = each.released_ns && !each.clipped
                                      ? optional_ns(*each.released_ns - each.start_ns)
                                      : optional_ns();
        cells.push_back(release_cell(until, each.gave_up));
        cells.emplace_back(std::string(each.gave_up ? "gave up" : "acquired"));
        rows.emplace_back(each.start_ns, std::move(cells));
    }
}

}  // namespace

listing list_task_waits(const trace& loaded, std::uint32_t task) {
    listing list;
    list.columns = {{"Waited for", "waited_for", cell_kind::text},
                    {"From", "start_ns", cell_kind::moment},
                    {"For", "duration_ns", cell_kind::time},
                    {"Held by", "held_by", cell_kind::sentence},
                    {"Released after", "until_release_ns", cell_kind::time},
                    {"End", "end", cell_kind::text}};
    dated_rows rows;
    add_lock_waits_of(loaded, task, rows);
    add_resource_waits_of(loaded, task, rows);
    std::ranges::stable_sort(rows, {}, &dated_rows::value_type::first);
    for (auto& [start_ns, cells] : rows) list.rows.push_back(std::move(cells));
    return list;
}

}  // namespace coroscope::analysis
