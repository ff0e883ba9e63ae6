// SPDX-License-Identifier: Apache-2.0
#include "turn_rules.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "rule_context.hpp"

namespace coroscope::analysis::inline checks {
namespace {

/// The waits of requests for one kind of worker.
struct worker_group {
    victim_sums victims;
    place_sums causes;
    evidence_list evidence;
    std::set<std::uint32_t> items;  // that were served first: indices into trace::events
    std::int64_t own_ns = 0;        // the worker served the waiting request
    std::uint32_t worker = none;
};

// The item that the worker served last before each wake is that of the woken request.
using wait_key = std::tuple<std::uint32_t, std::uint32_t, std::int64_t>;  // request, worker, end

wait_key turn_key_of(const turn_delay& of) { return {of.request, of.worker, of.wait_end_ns}; }

std::map<wait_key, std::uint32_t> items_of_waits(const check_input& input) {
    const trace& loaded = input.loaded();
    std::map<wait_key, std::uint32_t> found;
    for (const turn_delay& each : input.turn_delays()) {
        if (each.item == none) continue;
        std::uint32_t& own = found.try_emplace(turn_key_of(each), each.item).first->second;
        if (loaded.events[each.item].start_ns > loaded.events[own].start_ns) own = each.item;
    }
    return found;
}

std::map<std::uint32_t, worker_group> workers_of(check_input& input) {
    const trace& loaded = input.loaded();
    const auto own = items_of_waits(input);
    std::map<std::uint32_t, worker_group> groups;  // by kind of the worker
    for (const turn_delay& each : input.turn_delays()) {
        if (each.item == none) continue;
        worker_group& group = groups[input.kind_of(each.worker)];
        group.worker = each.worker;
        if (own.at(turn_key_of(each)) == each.item) {
            add_to(group.own_ns, each.time_ns);
            continue;
        }
        const event& item = loaded.events[each.item];
        const finding_place place = input.work_at(each.worker, each.item);
        group.victims.add(input, each.request, each.time_ns);
        group.causes.add(place, each.time_ns);
        if (!group.items.insert(each.item).second) continue;
        group.evidence.add({.text = "was served first",
                            .place = place,
                            .task = each.worker,
                            .thread = item.thread,
                            .await = each.await,
                            .request = input.requests()[each.request].info.id,
                            .start_ns = item.start_ns,
                            .length_ns = item.end_ns - item.start_ns});
    }
    return groups;
}

}  // namespace

void find_serial_workers(rule_context& context, std::vector<finding>& to) {
    check_input& input = context.input();
    for (auto& [kind, group] : workers_of(input)) {
        const std::int64_t cost_ns = group.victims.time_ns();
        if (!input.is_worth(cost_ns, least_share) || cost_ns < group.own_ns) continue;
        finding made;
        made.cause = group.causes.largest();
        made.victims = group.victims.list();
        made.count = group.items.size();
        made.cost_ns = cost_ns;
        const std::string worker = label_text(input.work_at(group.worker, none));
        made.title =
            fmt::format("requests wait for their turn at `{}`, mostly behind `{}`; {} "
                        "waited, {}",
                        worker, label_text(made.cause), victims_text(input, group.victims.count()),
                        share_text(input, cost_ns));
        made.explanation = {fmt::format("the task served {} other items first, for {} in all",
                                        group.items.size(), format_span(cost_ns)),
                            fmt::format("it took {} for the waiting requests themselves",
                                        format_span(group.own_ns))};
        made.evidence = group.evidence.take();
        to.push_back(std::move(made));
    }
}

}  // namespace coroscope::analysis::inline checks
