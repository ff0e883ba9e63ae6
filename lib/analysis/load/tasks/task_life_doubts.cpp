// SPDX-License-Identifier: Apache-2.0

// Marks the parts of a task's life that are unknown because of lost records.

#include "task_life.hpp"

namespace coroscope::analysis::inline tasks {

// If records during an await may be lost, the task may have run meanwhile, and a wake may belong to
// an earlier await. Returns whether it changed the await.
bool life_builder::doubt(await_info& await) {
    const bool ended = await.resume_ns || task().end_ns;
    const std::int64_t end_ns =
        await.resume_ns.value_or(task().end_ns.value_or(known_span::for_ever));
    if (known_.holds(await.suspend_ns, end_ns)) return false;
    task().losses = true;
    if (ended && !await.wake_ns) return false;
    await.wake_ns.reset();
    await.waker = await.waker_thread = none;
    await.reason = wake_reason::unknown;
    return true;
}

// An exception that left the await would have been recorded before the next record of the task, at
// `next_ns`. If that record may be lost, or the process died first, the outcome is unknown.
bool life_builder::doubts_outcome(const await_info& await, std::int64_t next_ns) const {
    if (await.outcome != await_outcome::value) return false;
    const bool may_be_cut = next_ns == known_span::for_ever && !loaded_.health.finished;
    return may_be_cut || !known_.holds(await.resume_ns.value_or(await.suspend_ns), next_ns);
}

void life_builder::doubt_await(std::size_t at) {
    const packed_list<await_info>& awaits = loaded_.awaits;
    await_info await = awaits[at];
    bool changed = doubt(await);
    const bool is_last = at + 1 == awaits.size();
    if (doubts_outcome(await, is_last ? task().end_ns.value_or(known_span::for_ever)
                                      : awaits[at + 1].suspend_ns)) {
        await.outcome = await_outcome::unknown;
        changed = true;
    }
    if (changed) loaded_.awaits.set(at, await);
}

void life_builder::doubt() {
    const std::size_t end = loaded_.awaits.size();
    // If nothing was lost, only the outcome of the last await may be unknown.
    std::size_t at = known_.is_all() && end != first_await_ ? end - 1 : first_await_;
    for (; at < end; ++at) doubt_await(at);
    const bool told = acted_ || !wakes_.empty() || task().spawn_ns;
    if (task().end_ns || !told || is_known_at_end()) return;
    task().state = task_state::unknown;
    task().losses = true;
}

// Returns whether the task's state at the end of the session is known. A running task still runs if
// its thread lost no records: else there would be a record by which it leaves.
bool life_builder::is_known_at_end() {
    if (running_) return known_.knows_end_of(thread_);
    const std::int64_t since_ns =
        awaits_ ? loaded_.awaits.back().suspend_ns : task().spawn_ns.value_or(0);
    return known_.holds(since_ns, known_span::for_ever);
}

}  // namespace coroscope::analysis::inline tasks
