// SPDX-License-Identifier: Apache-2.0
#include "work_index.hpp"

#include <unordered_set>

namespace coroscope::analysis::inline pages {
namespace {

/// Sorts numbers from 0 by their owners, and keeps their order within an owner. `owner_of` returns
/// an owner below `owners`, or `none`.
template <class OwnerOf>
void sort_by_owner(std::uint32_t count, std::uint32_t owners, const OwnerOf& owner_of,
                   std::vector<std::uint32_t>& begins, std::vector<std::uint32_t>& sorted) {
    begins.assign(owners + std::size_t{2}, 0);
    for (std::uint32_t at = 0; at < count; ++at)
        if (const std::uint32_t owner = owner_of(at); owner < owners) ++begins[owner + 2];
    for (std::size_t owner = 2; owner < begins.size(); ++owner) begins[owner] += begins[owner - 1];
    sorted.resize(begins.back());
    for (std::uint32_t at = 0; at < count; ++at)
        if (const std::uint32_t owner = owner_of(at); owner < owners)
            sorted[begins[owner + 1]++] = at;
    begins.pop_back();
}

optional_ns time_of_spawn(const task_info& task) {
    return task.spawn_ns ? task.spawn_ns : task.first_wake_ns;
}

}  // namespace

work_index::work_index(const trace& from) : from_(from) {
    const auto tasks = static_cast<std::uint32_t>(from.tasks.size());
    const auto owners = tasks + static_cast<std::uint32_t>(from.threads.size());
    sort_by_owner(
        static_cast<std::uint32_t>(from.events.size()), owners,
        [&](std::uint32_t at) {
            const event& scope = from.events[at];
            if (scope.task < tasks) return scope.task;
            return scope.thread < from.threads.size() ? tasks + scope.thread : none;
        },
        scope_begins_, scopes_);
    sort_by_owner(
        tasks, owners,
        [&](std::uint32_t at) {
            const task_info& task = from.tasks[at];
            if (task.parent < tasks) return task.parent;
            return task.spawn_thread < from.threads.size() ? tasks + task.spawn_thread : none;
        },
        child_begins_, children_);
}

std::uint32_t work_index::owner_of(const owned_time& part) const {
    const auto tasks = static_cast<std::uint32_t>(from_.tasks.size());
    if (part.task < tasks) return part.task;
    return part.thread < from_.threads.size() ? tasks + part.thread : none;
}

std::span<const std::uint32_t> work_index::scopes_in(const owned_time& part) const {
    const std::uint32_t owner = owner_of(part);
    if (owner == none) return {};
    const std::span<const std::uint32_t> all = std::span(scopes_).subspan(
        scope_begins_[owner], scope_begins_[owner + 1] - scope_begins_[owner]);
    const auto start_of = [this](std::uint32_t scope) { return from_.events[scope].start_ns; };
    const auto first = std::ranges::lower_bound(all, part.from_ns, {}, start_of);
    const auto end = std::ranges::upper_bound(all, part.to_ns, {}, start_of);
    if (first >= end) return {};
    return all.subspan(static_cast<std::size_t>(first - all.begin()),
                       static_cast<std::size_t>(end - first));
}

void work_index::add_children(const owned_time& of, std::int64_t end_ns,
                              std::vector<owned_time>& to) const {
    const std::uint32_t owner = owner_of(of);
    if (owner == none) return;
    for (std::uint32_t at = child_begins_[owner]; at < child_begins_[owner + 1]; ++at) {
        const optional_ns spawn_ns = time_of_spawn(from_.tasks[children_[at]]);
        if (spawn_ns && *spawn_ns >= of.from_ns && *spawn_ns <= of.to_ns)
            to.push_back({children_[at], none, *spawn_ns, end_ns});
    }
}

std::vector<owned_time> work_index::parts_of(const request_info& request) const {
    std::vector<owned_time> parts{{request.task,
                                   request.task < from_.tasks.size() ? none : request.thread,
                                   request.start_ns, request.end_ns}};
    std::unordered_set<std::uint32_t> seen{request.task};
    for (std::size_t next = 0; next < parts.size(); ++next) {
        std::vector<owned_time> children;
        add_children(parts[next], request.end_ns, children);
        for (const owned_time& each : children)
            if (seen.insert(each.task).second) parts.push_back(each);
    }
    return parts;
}

}  // namespace coroscope::analysis::inline pages
