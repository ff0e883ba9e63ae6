// SPDX-License-Identifier: Apache-2.0
#include "path_delays.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "../model/missing_facts.hpp"
#include "../model/task_slices.hpp"
#include "../path/earlier_work.hpp"
#include "../path/work_ahead.hpp"

namespace coroscope::analysis::inline checks {
namespace {

// Shorter delays are the price of any hand-over between tasks.
constexpr std::int64_t least_delay_ns = 5'000;

// The innermost wait for a lock or a resource through which the path came to a segment.
struct hold {
    std::uint32_t wait = none;   // index into critical_path::waits; none: there is no such wait
    std::uint32_t inner = none;  // the holder's own wait around the segment; none: the holder acts
};

bool has_holder(const charge& of) { return of.task != none || of.thread != none; }

hold hold_around(const critical_path& path, std::uint32_t through) {
    hold found;
    for (found.wait = through; found.wait < path.waits.size();) {
        const path_wait& wait = path.waits[found.wait];
        if (wait.edge == path_edge::lock || wait.edge == path_edge::resource) return found;
        found.inner = found.wait;
        found.wait = wait.through;
    }
    return {};
}

}  // namespace

void path_delays::add(std::uint32_t request, const critical_path& path) {
    stalled_ = {};
    unproven_ns_ = 0;
    const std::vector<std::uint32_t> earlier = earlier_work(loaded_, path);
    for (std::size_t at = 0; at < path.segments.size(); ++at) {
        const path_segment& each = path.segments[at];
        if (earlier[at] != none) {
            add_to(unproven_ns_, each.length_ns());
            continue;
        }
        if (each.kind == path_kind::preempted) add_to(stalled_.preempted_ns, each.length_ns());
        if (each.kind == path_kind::suspended) add_waker(each);
        if (each.kind == path_kind::queued) add_queued(request, path, each);
        if (each.kind == path_kind::blocked) add_blocked(request, path, each);
        if (each.kind == path_kind::queued || each.kind == path_kind::preempted) continue;
        if (is_unproven(each)) add_to(unproven_ns_, each.length_ns());
        add_held(request, path, each);
        if (each.through != none && !is_unproven(each)) add_turn(request, path, each);
    }
}

// The work of the segment may not have caused its time.
bool path_delays::is_unproven(const path_segment& segment) const {
    if (segment.kind == path_kind::waiting || segment.kind == path_kind::unknown)
        return has_losses(loaded_);
    return segment.kind == path_kind::running &&
           lacks_states(loaded_, segment.thread, segment.start_ns, segment.end_ns);
}

// The thread of a holder may have had no processor. A suspended holder needs none. An unknown
// holder proves nothing.
bool path_delays::is_unproven(const charge& holder, const path_segment& during) const {
    if (!has_holder(holder)) return true;
    if (holder.thread >= loaded_.threads.size() ||
        state_of_holder(holder, during) == path_kind::suspended)
        return false;
    return lacks_states(loaded_, holder.thread, during.start_ns, during.end_ns);
}

// A thread outside tasks that woke the task may have been late, because it had no processor.
void path_delays::add_waker(const path_segment& segment) {
    if (segment.await >= loaded_.awaits.size()) return;
    const await_info& await = loaded_.awaits[segment.await];
    if (await.waker != none || await.waker_thread >= loaded_.threads.size() ||
        await.reason != wake_reason::unknown)
        return;
    const std::uint32_t thread = await.waker_thread;
    if (lacks_states(loaded_, thread, segment.start_ns, segment.end_ns))
        add_to(unproven_ns_, segment.length_ns());
    else
        add_to(unproven_ns_,
               loaded_.states.between(thread, segment.start_ns, segment.end_ns).preempted_ns);
}

void path_delays::add_queued(std::uint32_t request, const critical_path& path,
                             const path_segment& segment) {
    const std::uint32_t executor = queue_of(loaded_, segment).executor;
    for (const std::uint32_t at : segment.blame)
        charged_.for_each(segment, path.blame[at], [&](const charge& each) {
            if (each.role == cause_role::idle || each.role == cause_role::preempted) {
                const bool is_idle = each.role == cause_role::idle;
                const stalled_time stalled{.preempted_ns = is_idle ? 0 : each.time_ns,
                                           .idle_ns = is_idle ? each.time_ns : 0};
                stalled_.add(stalled);
                stalled_of_[std::min<std::size_t>(executor, stalled_of_.size() - 1)].add(stalled);
                return;
            }
            const bool is_held = each.role == cause_role::held;
            const bool is_unknown =
                each.role == cause_role::unknown || (is_held && is_unproven(each, segment));
            if (is_unknown) add_to(unproven_ns_, each.time_ns);
            if (each.time_ns < least_delay_ns) return;
            if (is_held && has_holder(each)) {
                held_.push_back({.request = request,
                                 .waiter = segment.task,
                                 .waiter_scope = segment.event,
                                 .holder = each.task,
                                 .holder_scope = each.scope,
                                 .holder_thread = each.thread,
                                 .kind = state_of_holder(each, segment),
                                 .from_ns = segment.start_ns,
                                 .time_ns = each.time_ns,
                                 .is_unproven = is_unknown});
            } else {
                queued_.push_back({request, segment.task, executor, each.task, each.scope,
                                   each.thread, segment.start_ns, segment.end_ns, each.time_ns,
                                   is_unknown});
            }
        });
}

// The path stayed in the waiting thread, although the holder of a lock is known.
void path_delays::add_blocked(std::uint32_t request, const critical_path& path,
                              const path_segment& segment) {
    for (const std::uint32_t at : segment.blame) {
        const path_blame& each = path.blame[at];
        const charge holder{each.task, each.event, each.thread, cause_role::held, each.charged_ns};
        if (holder.time_ns < least_delay_ns) continue;
        held_.push_back({.request = request,
                         .waiter = segment.task,
                         .waiter_scope = segment.event,
                         .holder = holder.task,
                         .holder_scope = holder.scope,
                         .holder_thread = holder.thread,
                         .kind = state_of_holder(holder, segment),
                         .from_ns = segment.start_ns,
                         .time_ns = holder.time_ns,
                         .is_unproven = is_unproven(holder, segment)});
    }
}

void path_delays::add_held(std::uint32_t request, const critical_path& path,
                           const path_segment& segment) {
    const hold found = hold_around(path, segment.through);
    if (found.wait == none || segment.length_ns() < least_delay_ns) return;
    const path_wait& wait = path.waits[found.wait];
    hold_delay delay{.request = request,
                     .waiter = wait.task,
                     .waiter_scope = wait.event,
                     .holder = segment.task,
                     .holder_scope = segment.event,
                     .holder_thread = segment.thread,
                     .resource = wait.resource,
                     .lock_address = wait.lock_address,
                     .kind = segment.kind,
                     .from_ns = segment.start_ns,
                     .time_ns = segment.length_ns(),
                     .is_unproven = is_unproven(segment)};
    if (found.inner != none) {
        const path_wait& inner = path.waits[found.inner];
        delay.holder = inner.task;
        delay.holder_scope = inner.event;
        delay.holder_thread = inner.thread;
        delay.kind = inner.kind;
    }
    held_.push_back(delay);
}

// Finds the outermost other task through which the path came to the segment.
void path_delays::add_turn(std::uint32_t request, const critical_path& path,
                           const path_segment& segment) {
    turn_delay delay{.request = request,
                     .kind = segment.kind,
                     .from_ns = segment.start_ns,
                     .time_ns = segment.length_ns()};
    std::uint32_t task = segment.task;
    std::uint32_t scope = segment.event;
    std::uint32_t await = segment.await;
    for (std::uint32_t at = segment.through; at < path.waits.size();) {
        const path_wait& wait = path.waits[at];
        if (wait.edge == path_edge::lock || wait.edge == path_edge::resource) return;
        if (task != none && !is_of_request(loaded_, path, task)) {
            delay.worker = task;
            delay.item = item_of(loaded_, scope, wait);
            delay.await = await;
            delay.wait_end_ns = wait.end_ns;
        }
        task = wait.task;
        scope = wait.event;
        await = wait.await;
        at = wait.through;
    }
    if (delay.worker != none) turns_.push_back(delay);
}

// The state of the work that holds a lock, for most of a segment.
path_kind path_delays::state_of_holder(const charge& holder, const path_segment& during) const {
    const std::int64_t middle_ns = during.start_ns + during.length_ns() / 2;
    if (holder.task < loaded_.tasks.size()) {
        const std::optional<slice> run = latest_slice(loaded_, holder.task, middle_ns);
        if (!run || run->end_ns < middle_ns) return path_kind::suspended;
    }
    if (holder.thread >= loaded_.threads.size()) return path_kind::unknown;
    const state_times states =
        loaded_.states.between(holder.thread, during.start_ns, during.end_ns);
    return states.blocked_ns > states.total_ns() / 2 ? path_kind::blocked : path_kind::running;
}

}  // namespace coroscope::analysis::inline checks
