// SPDX-License-Identifier: Apache-2.0
#include "scope_timelines.hpp"

#include "../answer/scope_states.hpp"

namespace coroscope::analysis::inline paths {

// The last place is for unknown owners, which have no scopes.
scope_timelines::scope_timelines(const trace& loaded)
    : loaded_(loaded), places_(loaded.tasks.size() + loaded.threads.size() + 1, none) {}

std::size_t scope_timelines::place_of(std::uint32_t task, std::uint32_t thread) const {
    if (task != none) return task < loaded_.tasks.size() ? task : places_.size() - 1;
    return thread < loaded_.threads.size() ? loaded_.tasks.size() + thread : places_.size() - 1;
}

void scope_timelines::watch(std::uint32_t task, std::uint32_t thread) {
    std::uint32_t& place = places_[place_of(task, thread)];
    if (place != none) return;
    place = static_cast<std::uint32_t>(timelines_.size());
    timelines_.emplace_back();
}

// Ranges may overlap, so they are not among the scopes.
void scope_timelines::read() {
    if (timelines_.empty()) return;
    for (std::uint32_t index = 0; index < loaded_.events.size(); ++index) {
        const event& scope = loaded_.events[index];
        if (has_no_self_time(scope)) continue;
        const std::size_t owner = place_of(scope.task, scope.thread);
        if (places_[owner] != none && owner + 1 != places_.size())
            timelines_[places_[owner]].add(index, scope.start_ns, scope.end_ns);
    }
    for (innermost_intervals& each : timelines_) each.finish();
}

}  // namespace coroscope::analysis::inline paths
