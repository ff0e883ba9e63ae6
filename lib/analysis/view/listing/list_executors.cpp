// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <fmt/format.h>

#include "../../text/utf8.hpp"
#include "../../words/places.hpp"
#include "figure.hpp"
#include "place_cells.hpp"

namespace coroscope::analysis {
namespace {

std::vector<listing_column> columns_of_executors(bool with_states) {
    std::vector<listing_column> columns{
        {"Executor", "name", cell_kind::text}, {"Kind", "kind", cell_kind::text},
        {"On", "inner", cell_kind::text},      {"Threads", "threads", cell_kind::count},
        {"Jobs", "jobs", cell_kind::count},    {"Busy", "busy_ns", cell_kind::time}};
    if (with_states) append_state_columns(columns);
    for (listing_column column :
         {listing_column{"Queue", "mean_length_hundredths", cell_kind::hundredths},
          {"Queue p99", "p99_length", cell_kind::count},
          {"Queue max", "max_length", cell_kind::count},
          {"Queued", "queued_ns", cell_kind::time},
          {"Queued p50", "p50_ns", cell_kind::time},
          {"Queued p99", "p99_ns", cell_kind::time},
          {"Queued max", "max_ns", cell_kind::time},
          {"All busy", "queued_while_busy_ns", cell_kind::time},
          {"Saturated", "saturated", cell_kind::text},
          {"Mostly", "occupant", cell_kind::text},
          {"Its scope", "occupant_scope", cell_kind::text},
          {"Its time", "occupant_ns", cell_kind::time},
          {"Not run", "waiting", cell_kind::count}})
        columns.push_back(std::move(column));
    return columns;
}

void append_queue(std::vector<listing_cell>& cells, const executor_statistics& of) {
    cells.emplace_back(optional_ns(of.mean_length_hundredths));
    cells.emplace_back(figure(of.p99_length));
    cells.emplace_back(figure(of.max_length));
    cells.emplace_back(optional_ns(of.queued_ns));
    for (const std::int64_t time_ns : {of.queued.p50_ns, of.queued.p99_ns, of.queued.max_ns})
        cells.emplace_back(of.queued.count != 0 ? optional_ns(time_ns) : optional_ns());
    cells.emplace_back(optional_ns(of.queued_while_busy_ns));
    cells.emplace_back(std::string(is_saturated(of) ? "yes" : "no"));
}

void append_occupant(std::vector<listing_cell>& cells, const trace& loaded,
                     const executor_occupant& occupant) {
    if (occupant.time_ns == 0) {
        cells.resize(cells.size() + 3, not_applicable());
        return;
    }
    cells.emplace_back(site_name(loaded, occupant.spawn_site));
    cells.push_back(scope_cell(loaded, occupant.scope));
    cells.emplace_back(optional_ns(occupant.time_ns));
}

std::string occupant_text(const trace& loaded, const executor_occupant& occupant) {
    if (occupant.time_ns == 0) return {};
    std::string text =
        fmt::format("; mostly {}", printable(site_name(loaded, occupant.spawn_site)));
    if (occupant.scope < loaded.strings.size())
        text.append(" in ").append(printable(loaded.strings[occupant.scope]));
    return text;
}

}  // namespace

listing list_executors(const trace& loaded, const std::vector<executor_statistics>& statistics) {
    listing list;
    const bool with_states = loaded.states.any();
    list.columns = columns_of_executors(with_states);
    for (const executor_statistics& each : statistics) {
        const executor_info& info = loaded.executors[each.executor];
        std::vector<listing_cell> cells{name_of_executor(loaded, each.executor),
                                        std::string(name_of_kind(info.kind))};
        cells.emplace_back(info.inner < loaded.executors.size()
                               ? listing_cell(name_of_executor(loaded, info.inner))
                               : not_applicable());
        cells.emplace_back(figure(each.threads.size()));
        cells.emplace_back(figure(each.jobs));
        cells.emplace_back(optional_ns(each.busy_ns));
        if (with_states) append_states(cells, each.states);
        append_queue(cells, each);
        append_occupant(cells, loaded, each.occupant);
        cells.emplace_back(figure(each.waiting));
        list.rows.push_back(std::move(cells));
    }
    return list;
}

std::string saturation_notes(const trace& loaded,
                             const std::vector<executor_statistics>& statistics) {
    std::string notes;
    for (const executor_statistics& each : statistics) {
        if (!is_saturated(each)) continue;
        const double share = 100.0 * static_cast<double>(each.queued_while_busy_ns) /
                             static_cast<double>(each.queued_ns);
        const bool strand =
            loaded.executors[each.executor].kind == coroscope::trace::executor_kind::strand;
        notes += fmt::format("saturated: {}: in {:.0f} % of the queued time of its jobs {}{}\n",
                             printable(name_of_executor(loaded, each.executor)), share,
                             strand ? "it ran another job, or no thread was free"
                                    : "all its threads were busy",
                             occupant_text(loaded, each.occupant));
    }
    return notes;
}

}  // namespace coroscope::analysis
