// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <coroscope/analysis/slow_requests.hpp>
#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../../path/charged_work.hpp"
#include "../../text/utf8.hpp"
#include "../../words/path_words.hpp"
#include "../../words/places.hpp"
#include "blocking_text.hpp"
#include "figure.hpp"
#include "lock_text.hpp"

namespace coroscope::analysis {
namespace {

double percent_of(std::int64_t part_ns, std::int64_t whole_ns) {
    return whole_ns <= 0 ? 0
                         : percent(static_cast<double>(part_ns) / static_cast<double>(whole_ns));
}

// Returns "in the way of handle in task 3 (serve), which waits for mutex 0x7f10".
std::string victim_of(const trace& loaded, const critical_path& path, const path_segment& segment) {
    if (segment.through == none) return {};
    const path_wait& wait = path.waits[segment.through];
    std::string object;
    if (wait.edge == path_edge::lock) {
        lock_wait lock;
        lock.address = wait.lock_address;
        lock.kind = wait.lock;
        object = lock_text(lock);
    } else if (wait.edge == path_edge::resource && wait.resource < loaded.resource_waits.size()) {
        object = printable(site_name(loaded, loaded.resource_waits[wait.resource].site));
    } else {
        return {};
    }
    const path_segment waiting = segment_of(wait);
    return fmt::format(
        "in the way of {}{}, which waits for {}", printable(segment_label(loaded, waiting)),
        wait.task == none ? std::string() : " in task " + task_title(loaded, wait.task), object);
}

std::string cause_of(const trace& loaded, const critical_path& path, const path_segment& segment,
                     const blocking_text& blocking) {
    const std::string victim = victim_of(loaded, path, segment);
    const std::string cause = segment.kind == path_kind::blocked
                                  ? blocking.of(segment.thread, segment.start_ns, segment.end_ns)
                                  : queued_behind(loaded, path, segment);
    return cause.empty() || victim.empty() ? cause + victim : cause + "; " + victim;
}

/// The time of a part by its causes: the name of the work, and its role.
using charge_sums = std::map<std::pair<std::string, cause_role>, std::int64_t>;

struct path_part {
    std::string label;
    path_kind kind = path_kind::unknown;
    std::uint32_t site = none;
    std::int64_t total_ns = 0;
    std::uint64_t count = 0;
    charge_sums causes;
};

std::string name_of_charged(const trace& loaded, const charge& work) {
    if (work.scope < loaded.events.size()) return loaded.strings[loaded.events[work.scope].name];
    if (work.task < loaded.tasks.size())
        return site_name(loaded, loaded.tasks[work.task].spawn_site);
    return work.thread < loaded.threads.size() ? "thread " + thread_name(loaded, work.thread)
                                               : std::string();
}

void add_charges(const trace& loaded, const charged_work& charged, const critical_path& path,
                 const path_segment& segment, charge_sums& to) {
    for (const std::uint32_t at : segment.blame)
        charged.for_each(segment, path.blame[at], [&](const charge& each) {
            const bool has_name = is_work(each.role);
            const std::string name = has_name ? name_of_charged(loaded, each) : std::string();
            if (!has_name || !name.empty()) add_to(to[{name, each.role}], each.time_ns);
        });
    if (segment.through == none) return;
    const path_edge edge = path.waits[segment.through].edge;
    if (edge == path_edge::lock || edge == path_edge::resource)
        add_to(to[{std::string(), cause_role::held}], segment.length_ns());
}

// Returns "cache.flush held a lock for 48.0 ms": the largest cause, if it has half of the part.
std::string text_of_cause(const trace& loaded, const path_part& part) {
    const auto largest =
        std::ranges::max_element(part.causes, {}, [](const auto& each) { return each.second; });
    if (largest == part.causes.end() || 2 * largest->second < part.total_ns) return {};
    const std::string name = printable(largest->first.first);
    const std::string time = format_span(largest->second);
    switch (largest->first.second) {
        case cause_role::held:
            // The path is in the holder's own work, so the row has its name.
            if (name.empty()) return "it held a lock or resource";
            return fmt::format("{} held a lock or resource for {}", name, time);
        case cause_role::idle: return fmt::format("{} ran for {}", no_task(loaded), time);
        case cause_role::preempted: return fmt::format("no processor for {}", time);
        case cause_role::unknown:
            return fmt::format("unknown for {}, because facts are missing", time);
        default: return fmt::format("{} for {}", name, time);
    }
}

std::vector<path_part> parts_of(const trace& loaded, const critical_path& path) {
    const charged_work charged(loaded);
    std::map<std::tuple<std::string, path_kind, std::uint32_t>, path_part> parts;
    for (const path_segment& each : path.segments) {
        const std::string label = segment_label(loaded, each);
        const std::uint32_t site = segment_site(loaded, each);
        path_part& part = parts[{label, each.kind, site}];
        part.label = label;
        part.kind = each.kind;
        part.site = site;
        part.total_ns += each.length_ns();
        ++part.count;
        add_charges(loaded, charged, path, each, part.causes);
    }
    std::vector<path_part> sorted;
    for (auto& [key, part] : parts) sorted.push_back(std::move(part));
    std::ranges::stable_sort(sorted, std::ranges::greater(), &path_part::total_ns);
    return sorted;
}

}  // namespace

listing list_path(const trace& loaded, const critical_path& path) {
    listing list;
    list.columns = {{"From", "start_ns", cell_kind::moment},
                    {"For", "ns", cell_kind::time},
                    {"Share %", "share_percent", cell_kind::number},
                    {"Kind", "kind", cell_kind::text},
                    {"In", "label", cell_kind::text},
                    {"Task", "task", cell_kind::count},
                    {"Thread", "thread", cell_kind::text},
                    {"Place", "place", cell_kind::source},
                    {"Because of", "cause", cell_kind::sentence}};
    const blocking_text blocking(loaded);
    for (const path_segment& each : path.segments) {
        list.rows.push_back(
            {optional_ns(each.start_ns), optional_ns(each.length_ns()),
             percent_of(each.length_ns(), path.wall_ns()), std::string(name_of(each.kind)),
             segment_label(loaded, each), task_id(loaded, each.task),
             text_cell(each.thread == none ? std::string() : thread_name(loaded, each.thread)),
             text_cell(site_place(loaded, segment_site(loaded, each))),
             text_cell(cause_of(loaded, path, each, blocking))});
    }
    return list;
}

listing list_path_parts(const trace& loaded, const critical_path& path) {
    listing list;
    list.columns = {{"Total", "ns", cell_kind::time},
                    {"Share %", "share_percent", cell_kind::number},
                    {"Segments", "count", cell_kind::count},
                    {"Kind", "kind", cell_kind::text},
                    {"In", "label", cell_kind::text},
                    {"Place", "place", cell_kind::source},
                    {"Because of", "cause", cell_kind::sentence}};
    for (const path_part& part : parts_of(loaded, path)) {
        list.rows.push_back({optional_ns(part.total_ns), percent_of(part.total_ns, path.wall_ns()),
                             figure(part.count), std::string(name_of(part.kind)), part.label,
                             text_cell(site_place(loaded, part.site)),
                             text_cell(text_of_cause(loaded, part))});
    }
    return list;
}

}  // namespace coroscope::analysis
