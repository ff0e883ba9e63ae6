// SPDX-License-Identifier: Apache-2.0
#include "scope_index.hpp"

#include <tuple>

namespace coroscope::analysis::inline profiles {

scope_index::scope_index(const trace& from)
    : from_(from), tasks_(static_cast<std::uint32_t>(from.tasks.size())) {
    const std::size_t owners = from.tasks.size() + from.threads.size();
    begins_.resize(owners + 2);  // the last owner is that of scopes without one
    for (const event& each : from.events) ++begins_[owner_of(each) + 1];
    for (std::size_t at = 1; at < begins_.size(); ++at) begins_[at] += begins_[at - 1];
    scopes_.resize(begins_[owners]);
    std::vector<std::uint32_t> next(begins_.begin(), begins_.end() - 1);
    for (std::uint32_t index = 0; index < from.events.size(); ++index) {
        const std::uint32_t owner = owner_of(from.events[index]);
        if (owner < owners) scopes_[next[owner]++] = index;
    }
}

std::uint32_t scope_index::owner_of(const event& scope) const {
    const auto owners = static_cast<std::uint32_t>(from_.tasks.size() + from_.threads.size());
    if (has_no_self_time(scope)) return owners;
    if (scope.task != none) return scope.task < tasks_ ? scope.task : owners;
    return scope.thread < from_.threads.size() ? tasks_ + scope.thread : owners;
}

/// Returns the event, or the innermost of those around it, that is open after that moment.
std::uint32_t scope_index::open_at(std::uint32_t event, std::int64_t time_ns) const {
    while (event != none) {
        const analysis::event& scope = from_.events[event];
        if (scope.end_ns > time_ns && !has_no_self_time(scope)) break;
        event = scope.parent < event ? scope.parent : none;
    }
    return event;
}

std::vector<std::vector<std::uint32_t>> slices_by_thread(const trace& from) {
    std::vector<std::vector<std::uint32_t>> found(from.threads.size());
    for (std::uint32_t index = 0; index < from.slices.size(); ++index) {
        const slice& run = from.slices[index];
        if (run.thread < found.size() && run.task < from.tasks.size())
            found[run.thread].push_back(index);
    }
    for (std::vector<std::uint32_t>& slices : found)
        std::ranges::sort(slices, {}, [&](std::uint32_t index) {
            return std::tuple(from.slices[index].start_ns, from.slices[index].end_ns, index);
        });
    return found;
}

}  // namespace coroscope::analysis::inline profiles
