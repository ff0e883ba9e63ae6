// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/task_statistics.hpp>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include <coroscope/analysis/device_statistics.hpp>

#include "../words/await_names.hpp"
#include "scope_states.hpp"

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

/// Counts the tasks of each site by the place of their spawns. Places with equal texts count as
/// one, because a compiler may inline a call several times.
class spawn_counts {
public:
    explicit spawn_counts(const trace& loaded) : places_(loaded.spawn_places.size()) {
        std::map<std::tuple<std::string_view, std::uint32_t, std::string_view>, std::uint32_t>
            known;
        for (std::uint32_t at = 0; at < places_.size(); ++at) {
            const spawn_place& each = loaded.spawn_places[at];
            const bool named = !each.file.empty() || !each.function.empty();
            const auto function = each.file.empty() ? std::string_view(each.function) : "";
            places_[at] =
                named ? known.try_emplace({each.file, each.line, function}, at).first->second
                      : none;
        }
    }

    void add(const task_info& task) {
        if (task.spawn_place >= places_.size() || places_[task.spawn_place] == none) return;
        ++counts_[{task.spawn_site, places_[task.spawn_place]}];
    }

    /// Fills the entry of the tasks with the spawn site `site`.
    void describe(std::uint32_t site, task_site_statistics& sum) const {
        for (auto at = counts_.lower_bound({site, 0});
             at != counts_.end() && at->first.first == site; ++at) {
            if (sum.spawn_place != none) ++sum.further_places;
            if (at->second <= sum.spawn_place_count) continue;
            sum.spawn_place = at->first.second;
            sum.spawn_place_count = at->second;
        }
    }

private:
    std::vector<std::uint32_t> places_;  // the first place with the same text; none: unknown
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> counts_;
};

}  // namespace

std::vector<task_site_statistics> task_statistics(const trace& loaded) {
    std::vector<task_site_statistics> sites(loaded.sites.size() + 1);
    std::vector<std::vector<std::int64_t>> walls(sites.size());
    scope_states states(loaded);
    spawn_counts spawns(loaded);
    const std::vector<std::int64_t> device_times = device_time_of_tasks(loaded);
    for (std::size_t index = 0; index < loaded.tasks.size(); ++index) {
        const task_info& task = loaded.tasks[index];
        const std::size_t site = std::min<std::size_t>(task.spawn_site, loaded.sites.size());
        sites[site].site = task.spawn_site;
        add(sites[site], task);
        spawns.add(task);
        sites[site].running_states.add(settled(states.of_task(task), task.time.running_ns));
        if (!device_times.empty())
            sites[site].device_ns =
                saturated_sum(sites[site].device_ns.value_or(0), device_times[index]);
        if (seen_whole(task)) walls[site].push_back(task.time.wall_ns());
    }
    for (std::size_t site = 0; site < sites.size(); ++site) {
        sites[site].name = site_name(loaded, sites[site].site);
        sites[site].wall = percentiles_of(walls[site]);
        spawns.describe(sites[site].site, sites[site]);
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

state_times states_of(const trace& loaded, const task_info& task) {
    state_times times;
    for (const std::uint32_t at : task.slices) {
        if (at >= loaded.slices.size()) continue;
        const slice& ran = loaded.slices[at];
        times.add(loaded.states.between(ran.thread, ran.start_ns, ran.end_ns));
    }
    return settled(times, task.time.running_ns);
}

}  // namespace coroscope::analysis
