// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/task_statistics.hpp>

#include <algorithm>

#include <coroscope/analysis/device_statistics.hpp>

#include "site_names.hpp"

namespace coroscope::analysis {
namespace {

bool seen_whole(const task_info& task) {
    return task.first_wake_ns && task.end_ns && !task.older_than_session &&
           task.state != task_state::cancelled;
}

void add(task_site_statistics& sum, const task_info& task) {
    ++sum.count;
    ++sum.states[static_cast<std::size_t>(task.state)];
    sum.with_losses += task.losses ? 1 : 0;
    sum.older += task.older_than_session ? 1 : 0;
    sum.time.add(task.time);
    if (!task.spawn_to_wake_ns) return;
    ++sum.spawn_to_wake_count;
    add_to(sum.spawn_to_wake_ns, *task.spawn_to_wake_ns);
}

}  // namespace

std::vector<task_site_statistics> task_statistics(const trace& loaded) {
    std::vector<task_site_statistics> sites(loaded.sites.size() + 1);
    std::vector<std::vector<std::int64_t>> walls(sites.size());
    const std::vector<std::int64_t> device_times = device_time_of_tasks(loaded);
    for (std::size_t index = 0; index < loaded.tasks.size(); ++index) {
        const task_info& task = loaded.tasks[index];
        const std::size_t site = std::min<std::size_t>(task.spawn_site, loaded.sites.size());
        sites[site].site = task.spawn_site;
        add(sites[site], task);
        if (!device_times.empty())
            sites[site].device_ns =
                saturated_sum(sites[site].device_ns.value_or(0), device_times[index]);
        if (seen_whole(task)) walls[site].push_back(task.time.wall_ns());
    }
    for (std::size_t site = 0; site < sites.size(); ++site) {
        sites[site].name = site_title(loaded, sites[site].site);
        sites[site].wall = percentiles_of(walls[site]);
    }
    std::erase_if(sites,
                  [](const task_site_statistics& candidate) { return candidate.count == 0; });
    std::sort(sites.begin(), sites.end(),
              [](const task_site_statistics& left, const task_site_statistics& right) {
                  return left.wall_ns() != right.wall_ns() ? left.wall_ns() > right.wall_ns()
                                                           : left.site < right.site;
              });
    return sites;
}

}  // namespace coroscope::analysis
