// SPDX-License-Identifier: Apache-2.0
#include "charged_work.hpp"

#include <algorithm>
#include <cstddef>

#include "../answer/lock_samples.hpp"
#include "../model/missing_facts.hpp"

namespace coroscope::analysis::inline paths {
namespace {

std::vector<lock_wait> waits_in_looks(const trace& loaded) {
    if (loaded.states.looks.empty()) return {};
    return sampled_lock_waits(loaded);
}

// Returns a time within `whole`, scaled by the charged part of `whole`.
std::int64_t scaled(std::int64_t time_ns, std::int64_t part_ns, std::int64_t whole_ns) {
    if (whole_ns <= 0) return 0;
    const double share = static_cast<double>(part_ns) / static_cast<double>(whole_ns);
    return std::min(part_ns, static_cast<std::int64_t>(static_cast<double>(time_ns) * share));
}

}  // namespace

charged_work::charged_work(const trace& loaded)
    : loaded_(loaded),
      holds_(loaded),
      sampled_(waits_in_looks(loaded)),
      seen_(sampled_, loaded.threads.size(),
            [](const lock_wait& each) { return each.waiter.thread; }),
      waits_(loaded),
      calls_(loaded),
      resources_(loaded.resource_waits, loaded.resource_waits.empty() ? 0 : loaded.tasks.size(),
                 [](const resource_wait& each) { return each.task; }) {}

// Adds the holders of the locks for which the blamed work waited, also unknown ones, and those of
// resources, if they are known.
void charged_work::add_holders(const path_segment& segment, const path_blame& blame,
                               std::vector<charge>& to) const {
    const auto add = [&](const charge& each) { to.push_back(each); };
    const auto add_lock = [&](const lock_wait& wait, std::int64_t from_ns, std::int64_t to_ns) {
        if (wait.waiter.task != blame.task || wait.waiter.scope != blame.event) return;
        std::int64_t unknown_ns = to_ns - from_ns;
        for_each_hold(wait, from_ns, to_ns, [&](const charge& each) {
            unknown_ns -= each.time_ns;
            to.push_back(each);
        });
        if (unknown_ns > 0) to.push_back({.role = cause_role::held, .time_ns = unknown_ns});
    };
    waits_.locks.for_each_in(blame.thread, segment.start_ns, segment.end_ns, add_lock);
    seen_.for_each_in(blame.thread, segment.start_ns, segment.end_ns, add_lock);
    waits_.resources.for_each_in(
        blame.thread, segment.start_ns, segment.end_ns,
        [&](const resource_wait& wait, std::int64_t from_ns, std::int64_t to_ns) {
            if (wait.task == blame.task) for_each_hold(wait, from_ns, to_ns, add);
        });
}

charged_work::stalls charged_work::stalls_between(std::uint32_t thread, std::int64_t from_ns,
                                                  std::int64_t to_ns) const {
    if (!loaded_.states.any()) return {};
    const state_times times = loaded_.states.between(thread, from_ns, to_ns);
    const bool is_unknown = times.unknown_ns > 0 && lacks_states(loaded_, thread, from_ns, to_ns);
    stalls made{times.preempted_ns, is_unknown ? times.unknown_ns : 0};
    if (may_lack_work(loaded_) && times.blocked_ns > 0)
        made.unknown_ns += std::max<std::int64_t>(
            0, times.blocked_ns - calls_.without_lock(thread, from_ns, to_ns));
    return made;
}

charged_work::stalls charged_work::stalls_of(const path_segment& segment,
                                             const path_blame& blame) const {
    if (blame.thread >= loaded_.threads.size()) return {};
    if (blame.task >= loaded_.tasks.size())
        return stalls_between(blame.thread, segment.start_ns, segment.end_ns);
    const index_range& own = loaded_.tasks[blame.task].slices;
    if (own.empty()) return {};
    const auto first = loaded_.slices.begin() + own.front();
    const auto last = first + static_cast<std::ptrdiff_t>(own.size());
    auto run = std::ranges::lower_bound(first, last, segment.start_ns, {}, &slice::start_ns);
    if (run != first) --run;
    stalls sum;
    for (; run != last && run->start_ns < segment.end_ns; ++run) {
        const std::int64_t from_ns = std::max(run->start_ns, segment.start_ns);
        const std::int64_t to_ns = std::min(run->end_ns, segment.end_ns);
        if (run->thread != blame.thread || from_ns >= to_ns) continue;
        stalls of_run = stalls_between(run->thread, from_ns, to_ns);
        if (blame.event == none && may_lack_scope(loaded_, *run))
            of_run.unknown_ns = to_ns - from_ns - of_run.preempted_ns;
        add_to(sum.preempted_ns, of_run.preempted_ns);
        add_to(sum.unknown_ns, of_run.unknown_ns);
    }
    return sum;
}

std::vector<charge> charged_work::divided(const path_segment& segment,
                                          const path_blame& blame) const {
    std::vector<charge> parts;
    add_holders(segment, blame, parts);
    const std::int64_t whole_ns = blame.charged_ns;
    std::int64_t left_ns = whole_ns;
    for (charge& each : parts) {
        each.time_ns = std::min(left_ns, scaled(each.time_ns, whole_ns, blame.time_ns));
        left_ns -= each.time_ns;
    }
    const auto take = [&](std::int64_t time_ns) {
        const std::int64_t taken_ns = std::min(left_ns, scaled(time_ns, whole_ns, blame.time_ns));
        left_ns -= taken_ns;
        return taken_ns;
    };
    const stalls stalled = stalls_of(segment, blame);
    const auto add = [&](cause_role role, std::int64_t time_ns) {
        parts.push_back({blame.task, blame.event, blame.thread, role, time_ns});
    };
    add(cause_role::preempted, take(stalled.preempted_ns));
    if (const std::int64_t unknown_ns = take(stalled.unknown_ns); unknown_ns > 0)
        add(cause_role::unknown, unknown_ns);
    add(cause_role::ran, left_ns);
    return parts;
}

}  // namespace coroscope::analysis::inline paths
