// SPDX-License-Identifier: Apache-2.0
#pragma once

// The stack of frames of one thread, while its records are read; see thread_timeline.hpp. It
// divides the thread's time: each moment belongs to the uppermost slice, or to the thread itself.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "task_stack.hpp"
#include "timeline.hpp"

namespace coroscope::analysis::inline tasks {

enum class frame_kind : std::uint8_t { thread, slice, context, job };

struct frame {
    std::uint32_t task = none;
    frame_kind kind = frame_kind::thread;
    std::int64_t entered_ns = 0;
    std::int64_t own_ns = 0;
    bool guessed = false;    ///< no record shows its begin
    bool initial = false;    ///< it was there before the thread's first record
    bool is_held = false;    ///< a slice whose last hand-over lasted to the session's end
    bool continues = false;  ///< resumed by a task that had just left this place of the stack
    // For a slice: its current part, which begins after the last hand-over.
    std::int64_t start_ns = 0;
    std::int64_t own_before_ns = 0;
    std::uint32_t before = none;          ///< the previous part: index into timeline::slices
    std::uint32_t last_hand_over = none;  ///< index into timeline::hand_overs
    // Records name the nearest frame below that is not quiet (first_runs.hpp) in place of quiet
    // ones.
    std::uint32_t quiet_rank = 0;   ///< of a quiet frame: distance above that frame
    std::uint32_t quiet_above = 0;  ///< number of quiet frames that are named after this one
};

class thread_frames {
public:
    /// The state of the stack when its uppermost slice is suspended. undo() restores it.
    struct suspension {
        frame ended;
        frame below;                 // the slice or thread that owns the time below `ended`
        hand_over last_hand_over;    // of the slice below
        std::size_t depth = 0;       // number of frames below `ended`
        std::size_t slice = 0;       // index into timeline::slices that `ended` will get
        std::size_t hand_overs = 0;  // number of hand-overs
        std::size_t switches = 0;    // number of switches if nothing else happens
        std::size_t slices_run = 0;
        std::int64_t time_ns = 0;
    };

    /// The new stack has the frame of `thread` only. Tasks from `first_folded` on are folded jobs.
    /// `has_scopes`: false if no scope needs timeline::switches.
    thread_frames(std::uint32_t thread, std::uint32_t first_folded, bool has_scopes);

    /// Moves to a record at `position`. Time does not go back.
    void go_on(std::int64_t time_ns, std::uint32_t position);

    [[nodiscard]] std::int64_t now_ns() const { return now_ns_; }
    /// The end of the time that already belongs to a frame.
    [[nodiscard]] std::int64_t owned_until_ns() const { return owned_until_ns_; }
    [[nodiscard]] std::size_t depth() const { return frames_.size(); }
    [[nodiscard]] frame& top() { return frames_.back(); }
    [[nodiscard]] const frame& top() const { return frames_.back(); }
    [[nodiscard]] const frame& at(std::size_t place) const { return frames_[place]; }
    [[nodiscard]] std::uint32_t current() const { return frames_.back().task; }
    [[nodiscard]] bool in_slice() const { return frames_.back().kind == frame_kind::slice; }
    /// The index of the uppermost frame of `task`, or 0 if there is none.
    [[nodiscard]] std::size_t find(std::uint32_t task) const;

    /// Gives the time since owned_until_ns() to the uppermost slice, else to the thread.
    void own();
    /// Sets the time at which the next frames begin or end.
    void set_now(std::int64_t time_ns) { now_ns_ = time_ns; }

    /// Pushes a slice or a folded job of `task`. `continues` says that the last frame on this place
    /// left and the thread has not returned to the frame below since.
    void run(std::uint32_t task, bool continues);
    void enter_context(std::uint32_t task);
    /// Marks the uppermost frame as one that was there before the thread's first record.
    void set_initial(bool quiet);
    /// Returns the task that runs when a record names `task`: a quiet task above it, if there is
    /// one.
    [[nodiscard]] std::uint32_t meant_by(std::uint32_t task) const;
    /// Ends the uppermost frame. Precondition: it is not the thread's own frame.
    void pop();
    /// Ends all frames at the end of the records. The uppermost slice runs up to now; those below
    /// it are suspended in hand-overs that stay open.
    void end();
    /// Removes the uppermost frame and its slices, if it turns out that its task did not run here.
    void drop();

    /// The number of slices that have begun, without those of folded jobs.
    [[nodiscard]] std::size_t slices_run() const { return slices_run_; }

    /// Returns the state for undo(). Precondition: the frame on top is a slice.
    [[nodiscard]] suspension remember();
    /// Returns whether no task has run since `made`.
    [[nodiscard]] bool can_undo(const suspension& made) const {
        return made.slices_run == slices_run_ && made.depth == frames_.size();
    }
    /// Continues the slice as if it had not been suspended. Precondition: can_undo().
    void undo(const suspension& made);

    /// Records which frame owns the time and which task owns the scopes from the current record on.
    void note();

    [[nodiscard]] timeline take() { return std::move(built_); }

private:
    [[nodiscard]] frame& owner() { return owner_at(frames_.size() - 1); }
    [[nodiscard]] frame& owner_at(std::size_t place);
    [[nodiscard]] std::uint32_t scope_task() const;
    void push(std::uint32_t task, frame_kind kind, bool continues);
    void remove_top();
    void end_slice(const frame& ended);
    std::uint32_t end_part(const frame& of, std::int64_t end_ns);
    std::uint32_t hand_over_to(const frame& above);
    void hand_back(const frame& ended);
    void hold(const frame& above);

    std::uint32_t thread_;
    std::uint32_t first_folded_;
    bool has_scopes_;
    task_stack<frame> frames_;
    timeline built_;
    std::size_t slices_run_ = 0;
    std::size_t switches_ = 1;  // number of switches so far
    std::size_t quiet_frames_ = 0;
    std::int64_t now_ns_ = 0;
    std::int64_t owned_until_ns_ = 0;
    std::uint32_t position_ = 0;
    bool owner_changed_ = false;
};

}  // namespace coroscope::analysis::inline tasks
