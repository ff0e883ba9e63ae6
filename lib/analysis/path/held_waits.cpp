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

held_waits::held_waits(const trace& loaded) {
    add_locks(loaded, loaded.lock_waits);
    if (!loaded.states.looks.empty()) add_locks(loaded, sampled_lock_waits(loaded));
    add_resources(loaded);
    std::ranges::stable_sort(waits_, {}, [](const owned_wait& each) {
        return std::tuple(each.owner, each.wait.start_ns, -each.wait.until_ns);
    });
}

void held_waits::add_locks(const trace& loaded, const std::vector<lock_wait>& waits) {
    for (const lock_wait& each : waits) {
        if (each.gave_up || each.waiter.thread >= loaded.threads.size()) continue;
        const bool is_released =
            each.released_ns && (each.releaser.task != none || each.releaser.thread != none);
        const thread_work& work = is_released ? each.releaser : each.holder;
        add(loaded, scope_owner(none, each.waiter.thread),
            {.start_ns = each.start_ns,
             .until_ns = each.released_ns.value_or(each.end_ns),
             .task = work.task,
             .thread = work.thread,
             .edge = path_edge::lock,
             .lock_address = each.address,
             .lock = each.kind});
    }
}

void held_waits::add_resources(const trace& loaded) {
    for (std::uint32_t at = 0; at < loaded.resource_waits.size(); ++at) {
        const resource_wait& each = loaded.resource_waits[at];
        if (each.gave_up) continue;
        held_wait wait{.start_ns = each.start_ns,
                       .until_ns = each.released_ns.value_or(each.end_ns),
                       .edge = path_edge::resource,
                       .resource = at};
        if (is_for_result(loaded, each)) {
            wait.edge = path_edge::wake;
            wait.resource = none;
        }
        if (has_releaser(each))
            std::tie(wait.task, wait.thread) = std::tie(each.releaser_task, each.releaser_thread);
        else if (each.holder_known)
            std::tie(wait.task, wait.thread) = std::tie(each.holder_task, each.holder_thread);
        add(loaded, is_on_thread(loaded, each) ? scope_owner(none, each.thread) : each.task, wait);
    }
}

// If the holding task ended before the wait did, it explains the wait only up to its own end.
void held_waits::add(const trace& loaded, std::uint64_t owner, held_wait wait) {
    if (wait.task < loaded.tasks.size()) {
        wait.thread = none;
        const optional_ns& end_ns = loaded.tasks[wait.task].end_ns;
        wait.until_ns = std::min(wait.until_ns, end_ns.value_or(wait.until_ns));
    } else if (wait.thread >= loaded.threads.size()) {
        return;
    }
    if (wait.start_ns < wait.until_ns) waits_.push_back({owner, wait});
}

const held_wait* held_waits::on_thread(std::uint32_t thread, std::int64_t from_ns,
                                       std::int64_t at_ns) const {
    return latest(scope_owner(none, thread), from_ns, at_ns);
}

const held_wait* held_waits::of_task(std::uint32_t task, std::int64_t from_ns,
                                     std::int64_t at_ns) const {
    return latest(task, from_ns, at_ns);
}

const held_wait* held_waits::latest(std::uint64_t owner, std::int64_t from_ns,
                                    std::int64_t at_ns) const {
    auto after =
        std::ranges::lower_bound(waits_, std::pair(owner, at_ns), {}, [](const owned_wait& each) {
            return std::pair(each.owner, each.wait.start_ns);
        });
    const held_wait* found = nullptr;
    for (std::ptrdiff_t tried = 0; tried < deepest_wait && after != waits_.begin(); ++tried) {
        --after;
        if (after->owner != owner) break;
        const held_wait& wait = after->wait;
        if (wait.until_ns <= from_ns) continue;
        if (found == nullptr || std::min(wait.until_ns, at_ns) > std::min(found->until_ns, at_ns))
            found = &wait;
    }
    return found;
}

}  // namespace coroscope::analysis::inline paths
