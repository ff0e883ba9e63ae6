// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/await_statistics.hpp>

#include <algorithm>
#include <map>
#include <utility>

#include "site_names.hpp"

namespace coroscope::analysis {
namespace {

void add(await_times& sum, const device_share& share) {
    if (share.waits == 0) return;
    ++sum.device_waits;
    add_to(sum.device_ns, share.covered_ns);
    if (share.queued_ns)
        sum.device_queued_ns = saturated_sum(sum.device_queued_ns.value_or(0), *share.queued_ns);
}

/// The waits for streams of each site, by its place among the statistics.
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

void add(await_times& sum, const await_info& await, const time_split& time) {
    ++sum.count;
    sum.unknown_wakes += await.wake_ns ? 0 : 1;
    sum.unfinished += await.resume_ns ? 0 : 1;
    add_to(sum.suspended_ns, time.suspended_ns);
    add_to(sum.queued_ns, time.queued_ns);
    add_to(sum.waiting_ns, time.waiting_ns);
}

template <class Entry>
void longest_first(std::vector<Entry>& entries) {
    // Entries come in an order that depends on the trace alone; equal totals keep it.
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

// The await of its awaiter that a task serves: the one that names it and was open when `time_ns` was.
const await_info* served_await(const trace& loaded, std::uint32_t task, std::int64_t time_ns) {
    const std::uint32_t awaiter = loaded.tasks[task].awaiter;
    if (awaiter >= loaded.tasks.size()) return nullptr;
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
        if (candidate.resume_ns && *candidate.resume_ns < time_ns) return nullptr;
        if (candidate.awaited == task) return &candidate;
    }
    return nullptr;
}

// From the innermost await outwards; damage may close a circle of awaiters, so the depth is bounded.
std::vector<std::uint32_t> chain_of(const trace& loaded, const await_info& innermost) {
    constexpr std::size_t depth_limit = 256;
    std::vector<std::uint32_t> sites;
    const await_info* at = &innermost;
    for (std::size_t depth = 0; at != nullptr && depth < depth_limit; ++depth) {
        sites.push_back(at->site);
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
    } else {
        time.waiting_ns = end_ns - await.suspend_ns;
    }
    return time;
}

std::vector<await_site_statistics> await_statistics(const trace& loaded) {
    std::vector<await_site_statistics> sites(loaded.sites.size() + 1);
    std::vector<std::vector<std::int64_t>> lengths(sites.size());
    const device_coverage coverage(loaded);
    for (std::uint32_t index = 0; index < loaded.awaits.size(); ++index) {
        const await_info& await = loaded.awaits[index];
        const std::size_t site = std::min<std::size_t>(await.site, loaded.sites.size());
        sites[site].site = await.site;
        add(sites[site].times, await, split_of(loaded, await));
        add(sites[site].times, coverage.of(index));
        if (await.resume_ns) lengths[site].push_back(*await.resume_ns - await.suspend_ns);
    }
    std::vector<std::vector<std::uint32_t>> waits = waits_by_site(loaded);
    for (std::size_t site = 0; site < waits.size(); ++site)
        sites[site].devices = awaited_work(loaded, std::move(waits[site]));
    for (std::size_t site = 0; site < sites.size(); ++site) {
        sites[site].name = site_title(loaded, sites[site].site);
        sites[site].length = percentiles_of(lengths[site]);
    }
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
        // An await of a task with awaits of its own is explained by those.
        if (await.awaited < loaded.tasks.size() && !loaded.tasks[await.awaited].awaits.empty())
            continue;
        std::vector<std::uint32_t> sites = chain_of(loaded, await);
        const auto [place, is_new] = known.try_emplace(sites, chains.size());
        if (is_new) chains.emplace_back().sites = std::move(sites);
        add(chains[place->second].times, await, split_of(loaded, await));
        add(chains[place->second].times, coverage.of(index));
    }
    longest_first(chains);
    return chains;
}

}  // namespace coroscope::analysis
