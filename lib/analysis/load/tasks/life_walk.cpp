// SPDX-License-Identifier: Apache-2.0
#include "life_walk.hpp"

#include <algorithm>

#include "../../model/interruptions.hpp"

namespace coroscope::analysis::inline tasks {

life_walk::life_walk(const trace& loaded, const packed_list<nested_time>& nested,
                     const task_info& task, bool is_queued)
    : loaded_(loaded),
      nested_(nested),
      awaits_(task.awaits),
      is_suspended_(task.state == task_state::suspended) {
    if (!task.slices.empty()) {
        state_.next_slice = task.slices.front();
        end_slice_ = task.slices.back() + 1;
    }
    end_ns_ = std::max(*task.first_wake_ns, task.end_ns.value_or(loaded.duration_ns));
    state_.now_ns = *task.first_wake_ns;
    state_.is_queued = is_queued;
}

bool life_walk::to_part_at(std::int64_t time_ns) {
    sought_ns_ = time_ns;
    bool found = false;
    while (!found && state_.next_slice < end_slice_) found = step();
    if (!found) finish();
    state_ = before_;
    return any_;
}

// Walks over the next slice and the time before it. The walk's steps return whether they found the
// part that was sought.
bool life_walk::step() {
    const std::uint32_t index = state_.next_slice;
    const slice run = loaded_.slices[index];
    if (fill_gap(std::min(run.start_ns, end_ns_))) return true;
    if (advance(life_part_kind::running, std::min(run.end_ns, end_ns_), index,
                own_of(run, nested_[index])))
        return true;
    state_.is_queued = false;
    ++state_.next_slice;
    return false;
}

// Between two slices the awaits determine the time. Time that no await covers is waiting.
bool life_walk::fill_gap(std::int64_t to_ns) {
    for (; state_.next_await < awaits_.size() && state_.now_ns < to_ns; ++state_.next_await) {
        const await_info await = loaded_.awaits[awaits_[state_.next_await]];
        const std::int64_t resume_ns = await.resume_ns.value_or(to_ns);
        if (await.suspend_ns >= to_ns) break;
        if (resume_ns <= state_.now_ns) continue;
        if (advance(uncovered(), std::min(await.suspend_ns, to_ns), none, 0)) return true;
        const bool is_held =
            is_suspended_ && is_interruption(await) && !await.wake_ns && !await.resume_ns;
        const bool is_suspended = await.wake_ns || is_held;
        if (advance(is_suspended ? life_part_kind::suspended : life_part_kind::waiting,
                    std::min(await.wake_ns.value_or(resume_ns), to_ns), none, 0))
            return true;
        if (await.wake_ns && advance(life_part_kind::queued, std::min(resume_ns, to_ns), none, 0))
            return true;
        if (resume_ns > to_ns) break;  // it ends after the next slice begins: records were lost
    }
    return advance(uncovered(), to_ns, none, 0);
}

// Before its first run a woken task is queued.
life_part_kind life_walk::uncovered() const {
    return state_.is_queued && state_.next_await == 0 ? life_part_kind::queued
                                                      : life_part_kind::waiting;
}

bool life_walk::advance(life_part_kind kind, std::int64_t to_ns, std::uint32_t slice_index,
                        std::int64_t own_ns) {
    if (to_ns <= state_.now_ns) return false;
    before_ = state_;
    last_ = {to_ns, slice_index, kind};
    any_ = true;
    if (sought_ns_ < to_ns) return true;
    const std::int64_t length_ns = to_ns - state_.now_ns;
    if (kind == life_part_kind::running) {
        state_.running_ns += length_ns;
        state_.own_ns += std::min(length_ns, own_ns);
    }
    if (kind == life_part_kind::suspended) state_.suspended_ns += length_ns;
    if (kind == life_part_kind::queued) state_.queued_ns += length_ns;
    state_.now_ns = to_ns;
    return false;
}

bool may_have_run(const trace& loaded, const known_span& known, const task_info& task) {
    const std::int64_t run_ns = task.slices.empty() ? task.end_ns.value_or(known_span::for_ever)
                                                    : loaded.slices[task.slices.front()].start_ns;
    return run_ns > *task.first_wake_ns && !known.holds(*task.first_wake_ns, run_ns);
}

}  // namespace coroscope::analysis::inline tasks
