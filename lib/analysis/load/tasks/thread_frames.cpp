// SPDX-License-Identifier: Apache-2.0
#include "thread_frames.hpp"

#include <algorithm>

namespace coroscope::analysis::inline tasks {

thread_frames::thread_frames(std::uint32_t thread, std::uint32_t first_folded, bool has_scopes)
    : thread_(thread), first_folded_(first_folded), has_scopes_(has_scopes) {
    frames_.push_back({});
    built_.switches.emplace_back();
}

void thread_frames::go_on(std::int64_t time_ns, std::uint32_t position) {
    position_ = position;
    now_ns_ = std::max(time_ns, owned_until_ns_);
}

// The time of contexts and jobs belongs to the slice below them, or to the thread.
frame& thread_frames::owner_at(std::size_t place) {
    while (frames_[place].kind == frame_kind::context || frames_[place].kind == frame_kind::job)
        --place;
    return frames_[place];
}

std::uint32_t thread_frames::scope_task() const {
    std::size_t place = frames_.size() - 1;
    while (frames_[place].kind == frame_kind::job) --place;
    return frames_[place].task;
}

std::size_t thread_frames::find(std::uint32_t task) const {
    const std::size_t place = frames_.find(task);
    return place == frames_.nowhere ? 0 : place;
}

void thread_frames::own() {
    owner().own_ns += now_ns_ - owned_until_ns_;
    owned_until_ns_ = now_ns_;
}

void thread_frames::note() {
    const frame& owning = owner();
    const switch_point& last = built_.switches.back();
    const std::uint32_t task = scope_task();
    if (last.group == owning.task && last.task == task && !owner_changed_) return;
    // undo() needs one switch before the last.
    if (!has_scopes_ && built_.switches.size() > 1) built_.switches.erase(built_.switches.begin());
    built_.switches.push_back({now_ns_, owning.own_ns, position_, owning.task, task});
    ++switches_;
    owner_changed_ = false;
}

void thread_frames::run(std::uint32_t task, bool continues) {
    const bool folded = task >= first_folded_;
    slices_run_ += folded ? 0 : 1;
    push(task, folded ? frame_kind::job : frame_kind::slice, continues);
}

void thread_frames::enter_context(std::uint32_t task) { push(task, frame_kind::context, false); }

void thread_frames::push(std::uint32_t task, frame_kind kind, bool continues) {
    own();
    frame pushed;
    pushed.task = task;
    pushed.kind = kind;
    pushed.entered_ns = pushed.start_ns = now_ns_;
    pushed.continues = continues;
    frames_.push_back(pushed);
    owner_changed_ = true;
}

void thread_frames::set_initial(bool quiet) {
    frame& top = frames_.back();
    top.initial = true;
    if (!quiet) return;
    ++quiet_frames_;
    top.quiet_rank = frames_[frames_.size() - 2].quiet_rank + 1;
    frames_[frames_.size() - 1 - top.quiet_rank].quiet_above = top.quiet_rank;
}

std::uint32_t thread_frames::meant_by(std::uint32_t task) const {
    if (quiet_frames_ == 0) return task;
    const std::size_t place = task == none ? 0 : find(task);
    if (place == 0 && task != none) return task;
    return frames_[place + frames_[place].quiet_above].task;
}

void thread_frames::remove_top() {
    const std::uint32_t rank = frames_.back().quiet_rank;
    if (rank != 0) {
        frames_[frames_.size() - 1 - rank].quiet_above = rank - 1;
        --quiet_frames_;
    }
    frames_.pop_back();
    owner_changed_ = true;
}

void thread_frames::pop() {
    const frame ended = frames_.back();
    remove_top();
    if (ended.kind != frame_kind::slice) return;
    end_slice(ended);
    if (!ended.guessed) hand_back(ended);
}

void thread_frames::end() {
    while (frames_.size() > 1) {
        const frame ended = frames_.back();
        remove_top();
        if (ended.kind != frame_kind::slice) continue;
        end_slice(ended);
        if (!ended.guessed) hold(ended);
    }
}

void thread_frames::end_slice(const frame& ended) {
    for (std::uint32_t at = ended.before; ended.guessed && at != none;
         at = built_.slices[at].before)
        built_.slices.change(at, [](owned_slice& part) { part.guessed = true; });
    if (ended.is_held) return;
    end_part(ended, now_ns_);
    built_.slices.back().guessed = ended.guessed;
}

std::uint32_t thread_frames::end_part(const frame& of, std::int64_t end_ns) {
    built_.slices.push_back({slice{of.start_ns, std::max(of.start_ns, end_ns), of.task, thread_},
                             of.own_ns - of.own_before_ns, false, of.before});
    return static_cast<std::uint32_t>(built_.slices.size() - 1);
}

// Returns the hand-over in which the slice below `above` let `above` run: an index. Returns none if
// there is no slice below, or if it is one of the same task.
std::uint32_t thread_frames::hand_over_to(const frame& above) {
    frame& below = owner();
    if (below.kind != frame_kind::slice || below.task == above.task) return none;
    if (above.continues && below.last_hand_over != none) return below.last_hand_over;
    below.before = end_part(below, above.entered_ns);
    built_.slices.back().unseen = above.initial;
    built_.hand_overs.push_back({below.task, above.task, none, thread_, above.entered_ns,
                                 std::nullopt, below.before, above.initial});
    return below.last_hand_over = static_cast<std::uint32_t>(built_.hand_overs.size() - 1);
}

// Ends the hand-over to `ended`: the slice below was suspended while `ended` ran, and goes on now.
void thread_frames::hand_back(const frame& ended) {
    const std::uint32_t made = hand_over_to(ended);
    if (made == none) return;
    built_.hand_overs.change(made, [&](hand_over& back) {
        back.last = ended.task;
        back.end_ns = now_ns_;
    });
    frame& below = owner();
    below.start_ns = now_ns_;
    below.own_before_ns = below.own_ns;
}

// Leaves the hand-over to `above` open: `above` has not ended, so the slice below is still
// suspended.
void thread_frames::hold(const frame& above) {
    const std::uint32_t made = hand_over_to(above);
    if (made == none) return;
    built_.hand_overs.change(made, [](hand_over& open) {
        open.last = none;
        open.end_ns.reset();
    });
    owner().is_held = true;
}

// Also removes the parts of the slice that were built already: the task did not run here, so it
// made no hand-over.
void thread_frames::drop() {
    for (std::uint32_t at = frames_.back().before; at != none; at = built_.slices[at].before)
        built_.slices.change(at, [](owned_slice& part) { part.run.task = none; });
    remove_top();
}

thread_frames::suspension thread_frames::remember() {
    own();
    suspension made;
    made.ended = frames_.back();
    made.below = owner_at(frames_.size() - 2);
    made.depth = frames_.size() - 1;
    made.slice = built_.slices.size();
    made.hand_overs = built_.hand_overs.size();
    if (made.below.last_hand_over != none)
        made.last_hand_over = built_.hand_overs[made.below.last_hand_over];
    made.switches = switches_ + 1;
    made.slices_run = slices_run_;
    made.time_ns = now_ns_;
    return made;
}

// If contexts or jobs ran since the suspension, that time belongs to the frame below, not to the
// task.
void thread_frames::undo(const suspension& made) {
    // Left out when slices are gathered.
    built_.slices.change(made.slice, [](owned_slice& ended) { ended.run.task = none; });
    built_.slices.shrink(made.slice + 1);
    built_.hand_overs.shrink(made.hand_overs);
    frame& below = owner();
    below.before = made.below.before;
    below.last_hand_over = made.below.last_hand_over;
    if (below.last_hand_over != none)
        built_.hand_overs.change(below.last_hand_over,
                                 [&](hand_over& last) { last = made.last_hand_over; });
    below.start_ns = made.below.start_ns;
    below.own_before_ns = made.below.own_before_ns;
    owner_changed_ = switches_ != made.switches;
    if (owner_changed_) {
        own();
    } else {
        built_.switches.pop_back();
        --switches_;
        owned_until_ns_ = made.time_ns;
    }
    frames_.push_back(made.ended);
    frames_.back().quiet_rank = 0;  // records name the task itself from now on
}

}  // namespace coroscope::analysis::inline tasks
