// SPDX-License-Identifier: Apache-2.0
#include "turn_rules.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
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

using wait_key = std::tuple<std::uint32_t, std::uint32_t, std::int64_t>;  // request, worker, end

wait_key turn_key_of(const turn_delay& of) { return {of.request, of.worker, of.wait_end_ns}; }

/// The wakes by each worker: when it woke which task.
class worker_wakes {
public:
    explicit worker_wakes(const check_input& input) {
        for (const turn_delay& each : input.turn_delays()) wakes_[each.worker];
        for (const await_info& each : input.loaded().awaits)
            if (const auto of = wakes_.find(each.waker); of != wakes_.end() && each.wake_ns)
                of->second.insert(*each.wake_ns);
    }

    /// Returns the last wake before a moment; none: there is no earlier one.
    [[nodiscard]] std::int64_t before(std::uint32_t worker, std::int64_t time_ns) const {
        const std::set<std::int64_t>& of = wakes_.at(worker);
        const auto after = of.lower_bound(time_ns);
        return after == of.begin() ? INT64_MIN : *std::prev(after);
    }

private:
    std::map<std::uint32_t, std::set<std::int64_t>> wakes_;
};

/// The items of other requests lie between these times. The worker got the item of the waiting
/// request when it last waited outside items, or after it last woke another task. If its thread was
/// blocked outside items, nothing was there for it to do: the items before did not keep the request
/// waiting.
struct turn_times {
    std::int64_t first_ns = INT64_MIN;
    std::int64_t own_ns = INT64_MIN;
};

std::map<wait_key, turn_times> times_of_waits(const check_input& input) {
    const worker_wakes wakes(input);
    std::map<wait_key, turn_times> found;
    for (const turn_delay& each : input.turn_delays()) {
        const auto [at, is_new] = found.try_emplace(turn_key_of(each));
        turn_times& of = at->second;
        if (is_new) of.own_ns = wakes.before(each.worker, each.wait_end_ns);
        if (each.item != none) continue;
        const std::int64_t end_ns = each.from_ns + each.time_ns;
        if (each.kind == path_kind::blocked) of.first_ns = std::max(of.first_ns, end_ns);
        const bool waited = each.kind == path_kind::suspended || each.kind == path_kind::waiting;
        // The worker may have woken the request by the operation that it awaits now.
        if (waited && end_ns < each.wait_end_ns) of.own_ns = std::max(of.own_ns, end_ns);
    }
    return found;
}

std::map<std::uint32_t, worker_group> workers_of(check_input& input) {
    const trace& loaded = input.loaded();
    const auto times = times_of_waits(input);
    std::map<std::uint32_t, worker_group> groups;  // by kind of the worker
    for (const turn_delay& each : input.turn_delays()) {
        if (each.item == none) continue;
        const turn_times& of = times.at(turn_key_of(each));
        const event& item = loaded.events[each.item];
        worker_group& group = groups[input.kind_of(each.worker)];
        group.worker = each.worker;
        if (each.from_ns < of.first_ns) continue;
        if (item.start_ns >= of.own_ns) {
            add_to(group.own_ns, each.time_ns);
            continue;
        }
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
