// SPDX-License-Identifier: Apache-2.0
#include "list_path.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <coroscope/analysis/device_statistics.hpp>
#include <coroscope/analysis/slow_requests.hpp>
#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../../path/charged_work.hpp"
#include "../../path/waking_work.hpp"
#include "../../text/utf8.hpp"
#include "../../words/path_words.hpp"
#include "../../words/places.hpp"
#include "device_text.hpp"
#include "figure.hpp"
#include "path_causes.hpp"

namespace coroscope::analysis {
namespace {

double percent_of(std::int64_t part_ns, std::int64_t whole_ns) {
    return whole_ns <= 0 ? 0
                         : percent(static_cast<double>(part_ns) / static_cast<double>(whole_ns));
}

/// The work, its role, and what it held: an index into trace::sites.
using charge_key = std::tuple<std::string, cause_role, std::uint32_t>;
using charge_sums = std::map<charge_key, std::int64_t>;

struct path_part {
    std::string label;
    path_kind kind = path_kind::unknown;
    std::uint32_t site = none;
    std::int64_t total_ns = 0;
    std::uint64_t count = 0;
    charge_sums causes;
    std::set<std::uint32_t> device_waits;  // positions in trace::device_waits
};

std::string name_of_charged(const trace& loaded, const charge& work) {
    if (work.scope < loaded.events.size()) return loaded.strings[loaded.events[work.scope].name];
    if (work.task < loaded.tasks.size())
        return site_name(loaded, loaded.tasks[work.task].spawn_site);
    return work.thread < loaded.threads.size() ? "thread " + thread_name(loaded, work.thread)
                                               : std::string();
}

// Returns the holder in whose work the segment is; empty for running work, as the row has its name.
std::string name_of_holder(const trace& loaded, const path_segment& segment) {
    if (segment.await == none) return {};
    return name_of_charged(
        loaded, {.task = segment.task, .scope = segment.event, .thread = segment.thread});
}

void add_charges(const trace& loaded, const charged_work& charged, const waking_work& waking,
                 const critical_path& path, const path_segment& segment, charge_sums& to) {
    for (const std::uint32_t at : segment.blame)
        charged.for_each(segment, path.blame[at], [&](const charge& each) {
            const bool has_name = is_work(each.role);
            const std::string name = has_name ? name_of_charged(loaded, each) : std::string();
            if (!has_name || !name.empty())
                add_to(to[{name, each.role, each.resource}], each.time_ns);
        });
    if (const charge work = waking.of(segment, path.start_ns); work.scope != none)
        add_to(to[{name_of_charged(loaded, work), work.role, work.resource}], work.time_ns);
    if (segment.through == none) return;
    const path_wait& wait = path.waits[segment.through];
    const bool is_resource =
        wait.edge == path_edge::resource && wait.resource < loaded.resource_waits.size();
    if (!is_resource && wait.edge != path_edge::lock) return;
    add_to(to[{name_of_holder(loaded, segment), cause_role::held,
               is_resource ? loaded.resource_waits[wait.resource].site : none}],
           segment.length_ns());
}

constexpr std::int64_t least_cause = 5;  // a fifth of a part

// Returns "resource cache held by cache.flush for 48.0 ms".
std::string text_of_cause(const trace& loaded, const charge_sums::value_type& cause) {
    const auto& [label, role, resource] = cause.first;
    const std::string name = printable(label);
    const std::string time = format_span(cause.second);
    switch (role) {
        case cause_role::held:
            if (name.empty()) return "it held " + held_title(loaded, resource);
            return fmt::format("{} held by {} for {}", held_title(loaded, resource), name, time);
        case cause_role::idle:
            return fmt::format("{} ran on the threads for {}", no_task(loaded), time);
        case cause_role::preempted: return fmt::format("no processor for {}", time);
        case cause_role::unknown:
            return fmt::format("unknown for {}, because facts are missing", time);
        default: return fmt::format("{} for {}", name, time);
    }
}

// Returns the causes that have at least a fifth of the part, the largest first.
std::string text_of_causes(const trace& loaded, const path_part& part) {
    std::vector<const charge_sums::value_type*> causes;
    for (const auto& each : part.causes)
        if (each.second >= part.total_ns / least_cause && each.second > 0) causes.push_back(&each);
    std::ranges::stable_sort(causes, std::ranges::greater(),
                             [](const auto* each) { return each->second; });
    std::string text;
    for (const auto* each : causes)
        text.append(text.empty() ? "" : "; ").append(text_of_cause(loaded, *each));
    if (part.device_waits.empty()) return text.empty() ? std::string(own_cause(part.kind)) : text;
    const std::vector<std::uint32_t> waits(part.device_waits.begin(), part.device_waits.end());
    return text.append(text.empty() ? "" : "; ")
        .append(wait_text(loaded, awaited_work(loaded, waits), {}));
}

std::vector<path_part> parts_of(const trace& loaded, const critical_path& path) {
    const charged_work charged(loaded);
    const waking_work waking(loaded, std::span(&path, 1));
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
        add_charges(loaded, charged, waking, path, each, part.causes);
        if (each.await != none &&
            (each.kind == path_kind::suspended || each.kind == path_kind::waiting))
            for (const std::uint32_t wait : find_device_waits(loaded, each.await))
                part.device_waits.insert(wait);
    }
    std::vector<path_part> sorted;
    for (auto& [key, part] : parts) sorted.push_back(std::move(part));
    std::ranges::stable_sort(sorted, std::ranges::greater(), &path_part::total_ns);
    return sorted;
}

listing without_rows() {
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
    return list;
}

void add_row(listing& to, const trace& loaded, const critical_path& path,
             const path_segment& segment, std::string kind, std::string cause) {
    to.rows.push_back(
        {optional_ns(segment.start_ns), optional_ns(segment.length_ns()),
         percent_of(segment.length_ns(), path.wall_ns()), std::move(kind),
         segment_label(loaded, segment), task_id(loaded, segment.task),
         text_cell(segment.thread == none ? std::string() : thread_name(loaded, segment.thread)),
         text_cell(site_place(loaded, segment_site(loaded, segment))),
         text_cell(cause.empty() ? std::string(own_cause(segment.kind)) : std::move(cause))});
}

constexpr std::size_t state_count = static_cast<std::size_t>(path_kind::preempted) + 1;

/// Consecutive segments of a task on one thread, in one scope.
struct path_run {
    path_segment whole{};
    bool any = false;
    std::array<std::int64_t, state_count> times{};

    [[nodiscard]] bool takes(const path_segment& next) const {
        return next.thread != none && next.thread == whole.thread && next.task == whole.task &&
               next.event == whole.event && next.await == whole.await &&
               next.through == whole.through;
    }
    void add(const path_segment& next) {
        if (!any) whole = next;
        any = true;
        whole.end_ns = next.end_ns;
        add_to(times[static_cast<std::size_t>(next.kind)], next.length_ns());
    }
};

void add_row(listing& to, const trace& loaded, const critical_path& path, const path_run& run) {
    std::string kinds, times;
    for (std::size_t at = 0; at < state_count; ++at) {
        if (run.times[at] == 0) continue;
        const auto name = name_of(static_cast<path_kind>(at));
        const char* const separator = kinds.empty() ? "" : ", ";
        kinds += fmt::format("{}{}", separator, name);
        times += fmt::format("{}{} {}", separator, format_span(run.times[at]), name);
    }
    if (run.times[static_cast<std::size_t>(run.whole.kind)] == run.whole.length_ns()) times.clear();
    if (kinds.empty()) kinds = name_of(run.whole.kind);
    add_row(to, loaded, path, run.whole, std::move(kinds), std::move(times));
}

}  // namespace

listing list_path(const trace& loaded, const critical_path& path) {
    listing list = without_rows();
    const path_causes causes(loaded, path);
    for (const path_segment& each : path.segments)
        add_row(list, loaded, path, each, std::string(name_of(each.kind)), causes.of(each));
    return list;
}

listing listings::list_path_runs(const trace& loaded, const critical_path& path) {
    listing list = without_rows();
    const path_causes causes(loaded, path);
    path_run run;
    const auto end_run = [&] {
        if (run.any) add_row(list, loaded, path, run);
        run = {};
    };
    for (const path_segment& each : path.segments) {
        std::string cause = causes.of(each);
        if (run.any && !(cause.empty() && run.takes(each))) end_run();
        if (cause.empty() && each.thread != none && each.kind <= path_kind::preempted)
            run.add(each);
        else
            add_row(list, loaded, path, each, std::string(name_of(each.kind)), std::move(cause));
    }
    end_run();
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
                             text_cell(text_of_causes(loaded, part))});
    }
    return list;
}

}  // namespace coroscope::analysis
