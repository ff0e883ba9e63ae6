// SPDX-License-Identifier: Apache-2.0
#include "held_waits.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "../answer/lock_samples.hpp"
#include "../model/result_waits.hpp"
#include "../model/scope_owner.hpp"
#include "../model/task_slices.hpp"

namespace coroscope::analysis::inline paths {
namespace {

// The waits of one thread nest only if signal handlers wait, so a few levels are enough.
constexpr std::ptrdiff_t deepest_wait = 4;

}  // namespace

held_waits::held_waits(const trace& loaded) : loaded_(loaded), holds_(loaded) {
    if (!loaded.states.looks.empty()) samples_ = sampled_lock_waits(loaded);
    add_locks(loaded.lock_waits, owned_wait::list::locks);
    add_locks(samples_, owned_wait::list::samples);
    add_resources();
    std::ranges::stable_sort(waits_, {}, [](const owned_wait& each) {
        return std::tuple(each.owner, each.start_ns, -each.end_ns);
    });
}

void held_waits::add_locks(const std::vector<lock_wait>& waits, owned_wait::list of) {
    for (std::uint32_t at = 0; at < waits.size(); ++at)
        if (const lock_wait& each = waits[at];
            !each.gave_up && each.waiter.thread < loaded_.threads.size())
            waits_.push_back(
                {scope_owner(none, each.waiter.thread), each.start_ns, each.end_ns, at, of});
}

void held_waits::add_resources() {
    for (std::uint32_t at = 0; at < loaded_.resource_waits.size(); ++at)
        if (const resource_wait& each = loaded_.resource_waits[at]; !each.gave_up)
            waits_.push_back(
                {is_on_thread(loaded_, each) ? scope_owner(none, each.thread) : each.task,
                 each.start_ns, each.end_ns, at, owned_wait::list::resources});
}

std::optional<held_wait> held_waits::part_of(const owned_wait& wait, std::int64_t at_ns) const {
    switch (wait.of) {
        case owned_wait::list::locks: return part_of(loaded_.lock_waits[wait.index], at_ns);
        case owned_wait::list::samples: return part_of(samples_[wait.index], at_ns);
        case owned_wait::list::resources: break;
    }
    return part_of_resource(wait.index, at_ns);
}

std::optional<held_wait> held_waits::part_of(const lock_wait& wait, std::int64_t at_ns) const {
    const std::optional<hold_time> hold = holds_.before(wait, at_ns);
    if (!hold) return std::nullopt;
    return held({.edge = path_edge::lock, .lock_address = wait.address, .lock = wait.kind}, *hold);
}

std::optional<held_wait> held_waits::part_of_resource(std::uint32_t index,
                                                      std::int64_t at_ns) const {
    const resource_wait& wait = loaded_.resource_waits[index];
    const std::optional<hold_time> hold = holds_.before(wait, at_ns);
    if (!hold) return std::nullopt;
    if (is_for_result(loaded_, wait)) return held({.edge = path_edge::wake}, *hold);
    return held({.edge = path_edge::resource, .resource = index}, *hold);
}

// If the holding task ended before the wait did, it explains the wait only up to its own end.
std::optional<held_wait> held_waits::held(held_wait part, const hold_time& by) const {
    part.start_ns = by.from_ns;
    part.until_ns = by.to_ns;
    if (by.holder.task < loaded_.tasks.size()) {
        part.task = by.holder.task;
        const optional_ns& end_ns = loaded_.tasks[part.task].end_ns;
        part.until_ns = std::min(part.until_ns, end_ns.value_or(part.until_ns));
    } else if (by.holder.thread < loaded_.threads.size()) {
        part.thread = by.holder.thread;
    } else {
        return std::nullopt;
    }
    return part.start_ns < part.until_ns ? std::optional(part) : std::nullopt;
}

std::optional<held_wait> held_waits::on_thread(std::uint32_t thread, std::int64_t from_ns,
                                               std::int64_t at_ns) const {
    return latest(scope_owner(none, thread), from_ns, at_ns);
}

std::optional<held_wait> held_waits::of_task(std::uint32_t task, std::int64_t from_ns,
                                             std::int64_t at_ns) const {
    return latest(task, from_ns, at_ns);
}

bool held_waits::is_for_resource(std::uint32_t task, std::int64_t at_ns) const {
    auto after = first_after(task, at_ns);
    for (std::ptrdiff_t tried = 0; tried < deepest_wait && after != waits_.begin(); ++tried) {
        --after;
        if (after->owner != task) break;
        if (after->of == owned_wait::list::resources && after->end_ns >= at_ns)
            return has_holders(loaded_, loaded_.resource_waits[after->index]);
    }
    return false;
}

// Returns the owner's first wait from that time on, or a place behind its waits.
held_waits::place held_waits::first_after(std::uint64_t owner, std::int64_t at_ns) const {
    return std::ranges::lower_bound(
        waits_, std::pair(owner, at_ns), {},
        [](const owned_wait& each) { return std::pair(each.owner, each.start_ns); });
}

std::optional<held_wait> held_waits::latest(std::uint64_t owner, std::int64_t from_ns,
                                            std::int64_t at_ns) const {
    auto after = first_after(owner, at_ns);
    std::optional<held_wait> found;
    for (std::ptrdiff_t tried = 0; tried < deepest_wait && after != waits_.begin(); ++tried) {
        --after;
        if (after->owner != owner) break;
        const std::optional<held_wait> part = part_of(*after, at_ns);
        if (part && part->until_ns > from_ns && (!found || part->until_ns > found->until_ns))
            found = part;
    }
    return found;
}

}  // namespace coroscope::analysis::inline paths
