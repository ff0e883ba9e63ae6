// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/await_statistics.hpp>

#include <algorithm>
#include <map>
#include <utility>

#include "../model/interruptions.hpp"
#include "../model/left_out.hpp"
#include "../model/wake_knowledge.hpp"
#include "../words/await_names.hpp"

namespace coroscope::analysis {
namespace {

void add(await_times& sum, const device_share& share) {
    if (share.waits == 0) return;
    ++sum.device_waits;
    add_to(sum.device_ns, share.covered_ns);
    if (share.queued_ns)
        sum.device_queued_ns = saturated_sum(sum.device_queued_ns.value_or(0), *share.queued_ns);
}

/// Returns the waits for streams at each site, by the site's index in the statistics.
std::vector<std::vector<std::uint32_t>> waits_by_site(const trace& loaded) {
    std::vector<std::vector<std::uint32_t>> waits;
    for (std::uint32_t at = 0; at < loaded.device_waits.size(); ++at) {
        const std::uint32_t await = loaded.device_waits[at].await;
        if (await >= loaded.awaits.size()) continue;
        waits.resize(loaded.sites.size() + 1);
        waits[std::min<std::size_t>(loaded.awaits[await].site, loaded.sites.size())].push_back(at);
    }
    return waits;
}

// Returns whether the await has an outcome, known or not. A hand-over in the middle of a task's own
// code and the time of a request that is left out have none.
bool has_outcome(const trace& loaded, const await_info& await) {
    if (is_left_out(loaded, await)) return false;
    return await.outcome != coroscope::trace::await_outcome::unknown ||
           (await.resume_ns && !is_interruption(await));
}

void add(await_times& sum, const trace& loaded, const await_info& await) {
    const time_split time = split_of(loaded, await);
    ++sum.count;
    const wake_knowledge wake = knowledge_of_wake(loaded, await);
    sum.unknown_wakes += wake == wake_knowledge::unseen && !is_left_out(loaded, await) ? 1 : 0;
    sum.wakes_by_resume += wake == wake_knowledge::by_resume ? 1 : 0;
    sum.unfinished += await.resume_ns ? 0 : 1;
    sum.partial += await.clipped ? 1 : 0;
    sum.noticed_wakes += await.reason == wake_reason::noticed ? 1 : 0;
    if (has_outcome(loaded, await)) ++sum.outcomes[static_cast<std::size_t>(await.outcome)];
    add_to(sum.suspended_ns, time.suspended_ns);
    add_to(sum.queued_ns, time.queued_ns);
    add_to(sum.waiting_ns, time.waiting_ns);
}

void keep_distinct(std::vector<std::uint32_t>& indices) {
    std::sort(indices.begin(), indices.end());
    indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
}

template <class Entry>
void longest_first(std::vector<Entry>& entries) {
    // Entries with equal totals keep their order, which depends only on the trace.
    std::vector<std::size_t> order(entries.size());
    for (std::size_t index = 0; index < order.size(); ++index) order[index] = index;
    std::sort(order.begin(), order.end(), [&entries](std::size_t left, std::size_t right) {
        const std::int64_t one = entries[left].times.total_ns();
        const std::int64_t other = entries[right].times.total_ns();
        return one != other ? one > other : left < right;
    });
    std::vector<Entry> sorted;
    sorted.reserve(entries.size());
    for (const std::size_t index : order) sorted.push_back(std::move(entries[index]));
    entries = std::move(sorted);
}

// Returns whether the task began and ended during that await of its awaiter, as the tasks of a join
// do.
bool is_joined(const trace& loaded, std::uint32_t task, const await_info& await) {
    const task_info& info = loaded.tasks[task];
    if (!await.handed_over || info.slices.empty()) return false;
    const std::int64_t end_ns = await.resume_ns.value_or(loaded.duration_ns);
    return loaded.slices[info.slices.front()].start_ns >= await.suspend_ns &&
           info.end_ns.value_or(end_ns) <= end_ns;
}

// Returns the await of the task's awaiter that waited for the task at `time_ns`, if there is one.
std::optional<await_info> served_await(const trace& loaded, std::uint32_t task,
                                       std::int64_t time_ns) {
    const std::uint32_t awaiter = loaded.tasks[task].awaiter;
    if (awaiter >= loaded.tasks.size()) return std::nullopt;
    const index_range awaits = loaded.tasks[awaiter].awaits;
    std::size_t first = 0, end = awaits.size();
    while (first < end) {  // the last one suspended at or before `time_ns`
        const std::size_t middle = (first + end) / 2;
        if (loaded.awaits[awaits[middle]].suspend_ns <= time_ns)
            first = middle + 1;
        else
            end = middle;
    }
    for (std::size_t at = first; at-- > 0;) {
        const await_info& candidate = loaded.awaits[awaits[at]];
        if (candidate.resume_ns && *candidate.resume_ns < time_ns) return std::nullopt;
        if (candidate.awaited == task || is_joined(loaded, task, candidate)) return candidate;
    }
    return std::nullopt;
}

// Returns the sites of a chain of awaits, from the innermost one outwards. The depth is bounded,
// because awaiters may form a cycle in a damaged trace.
std::vector<std::uint32_t> chain_of(const trace& loaded, const await_info& innermost) {
    constexpr std::size_t depth_limit = 256;
    std::vector<std::uint32_t> sites;
    std::optional<await_info> at = innermost;
    for (std::size_t depth = 0; at && depth < depth_limit; ++depth) {
        sites.push_back(await_place(loaded, *at));
        sites.push_back(loaded.tasks[at->task].spawn_site);
        at = served_await(loaded, at->task, at->suspend_ns);
    }
    std::reverse(sites.begin(), sites.end());
    return sites;
}

}  // namespace

time_split split_of(const trace& loaded, const await_info& await) {
    time_split time;
    const task_info& task = loaded.tasks[await.task];
    const std::int64_t end_ns = std::max(
        await.suspend_ns, await.resume_ns.value_or(task.end_ns.value_or(loaded.duration_ns)));
    if (await.wake_ns) {
        const std::int64_t wake_ns = std::clamp(*await.wake_ns, await.suspend_ns, end_ns);
        time.suspended_ns = wake_ns - await.suspend_ns;
        time.queued_ns = end_ns - wake_ns;
    } else if (is_held(loaded, await)) {
        time.suspended_ns = end_ns - await.suspend_ns;
    } else {
        time.waiting_ns = end_ns - await.suspend_ns;
    }
    return time;
}

bool knows_outcomes(const trace& loaded) {
    return std::any_of(loaded.awaits.begin(), loaded.awaits.end(), [](const await_info& await) {
        return await.outcome != coroscope::trace::await_outcome::unknown;
    });
}

std::vector<await_site_statistics> await_statistics(const trace& loaded) {
    std::vector<await_site_statistics> sites(loaded.sites.size() + 1);
    std::vector<std::vector<std::int64_t>> lengths(sites.size());
    const device_coverage coverage(loaded);
    for (std::uint32_t index = 0; index < loaded.awaits.size(); ++index) {
        const await_info& await = loaded.awaits[index];
        const std::uint32_t place = await_place(loaded, await);
        const std::size_t site = std::min<std::size_t>(place, loaded.sites.size());
        sites[site].site = place;
        if (sites[site].name.empty()) sites[site].name = await_title(loaded, await);
        add(sites[site].times, loaded, await);
        add(sites[site].times, coverage.of(index));
        if (await.object != none) sites[site].objects.push_back(await.object);
        if (await.resume_ns && !await.clipped)
            lengths[site].push_back(*await.resume_ns - await.suspend_ns);
    }
    std::vector<std::vector<std::uint32_t>> waits = waits_by_site(loaded);
    for (std::size_t site = 0; site < waits.size(); ++site)
        sites[site].devices = awaited_work(loaded, std::move(waits[site]));
    for (std::size_t site = 0; site < sites.size(); ++site)
        sites[site].length = percentiles_of(lengths[site]);
    for (await_site_statistics& each : sites) keep_distinct(each.objects);
    std::erase_if(
        sites, [](const await_site_statistics& candidate) { return candidate.times.count == 0; });
    longest_first(sites);
    return sites;
}

std::vector<await_chain> await_chains(const trace& loaded) {
    std::map<std::vector<std::uint32_t>, std::size_t> known;
    std::vector<await_chain> chains;
    const device_coverage coverage(loaded);
    for (std::uint32_t index = 0; index < loaded.awaits.size(); ++index) {
        const await_info& await = loaded.awaits[index];
        // If the awaited task has awaits, their chains explain the time of this await.
        if (await.awaited < loaded.tasks.size() && !loaded.tasks[await.awaited].awaits.empty())
            continue;
        std::vector<std::uint32_t> sites = chain_of(loaded, await);
        const auto [place, is_new] = known.try_emplace(sites, chains.size());
        if (is_new) chains.emplace_back().sites = std::move(sites);
        add(chains[place->second].times, loaded, await);
        add(chains[place->second].times, coverage.of(index));
    }
    longest_first(chains);
    return chains;
}

}  // namespace coroscope::analysis
