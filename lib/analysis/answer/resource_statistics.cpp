// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/resource_statistics.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "../model/result_waits.hpp"
#include "../words/places.hpp"

namespace coroscope::analysis {
namespace {

struct collected_waits {
    resource_statistics sums;
    std::set<std::uint32_t> instances;
    std::vector<std::int64_t> lengths_ns;
    std::map<std::pair<std::uint32_t, std::uint32_t>, resource_holder> holders;
};

// The producer of a future counts as the holder of its result.
bool is_holder_known(const trace& loaded, const resource_wait& wait) {
    return wait.holder_known || (is_for_result(loaded, wait) && has_releaser(wait));
}

resource_holder place_of_holder(const trace& loaded, const resource_wait& wait) {
    resource_holder place;
    const std::uint32_t task = wait.holder_known ? wait.holder_task : wait.releaser_task;
    if (task < loaded.tasks.size()) place.spawn_site = loaded.tasks[task].spawn_site;
    if (wait.holder_scope < loaded.events.size())
        place.scope = loaded.events[wait.holder_scope].name;
    return place;
}

void add_wait(collected_waits& into, const trace& loaded, const resource_wait& wait) {
    const std::int64_t length_ns = wait.end_ns - wait.start_ns;
    ++into.sums.waits;
    into.sums.gave_up += wait.gave_up ? 1 : 0;
    into.sums.capacity = std::max(into.sums.capacity, wait.capacity);
    add_to(into.sums.total_ns, length_ns);
    into.lengths_ns.push_back(length_ns);
    into.instances.insert(wait.instance);
    if (!is_holder_known(loaded, wait)) {
        ++into.sums.unknown_holders;
        return;
    }
    resource_holder place = place_of_holder(loaded, wait);
    resource_holder& holder =
        into.holders.try_emplace({place.spawn_site, place.scope}, place).first->second;
    ++holder.waits;
    add_to(holder.total_ns, length_ns);
}

resource_statistics finish(collected_waits& waits) {
    waits.sums.instances = waits.instances.size();
    waits.sums.length = percentiles_of(waits.lengths_ns);
    const auto weight = [](const auto& entry) {
        return std::pair(entry.second.waits, entry.second.total_ns);
    };
    const auto most = std::ranges::max_element(waits.holders, {}, weight);
    if (most != waits.holders.end()) waits.sums.holder = most->second;
    return std::move(waits.sums);
}

}  // namespace

std::vector<resource_statistics> statistics_of_resources(const trace& loaded) {
    std::map<std::uint32_t, collected_waits> resources;  // by site
    for (const resource_wait& each : loaded.resource_waits)
        add_wait(resources[each.site], loaded, each);
    std::vector<resource_statistics> found;
    for (auto& [site, waits] : resources) {
        resource_statistics& each = found.emplace_back(finish(waits));
        each.site = site;
        each.name = site_name(loaded, site);
        if (const site_info* const named = find_site(loaded, site)) each.kind = named->category;
    }
    std::ranges::stable_sort(found, std::ranges::greater(), &resource_statistics::total_ns);
    return found;
}

}  // namespace coroscope::analysis
