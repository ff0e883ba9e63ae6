// SPDX-License-Identifier: Apache-2.0
#include "thread_timeline.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "departure.hpp"
#include "thread_frames.hpp"

namespace coroscope::analysis::inline tasks {

using coroscope::trace::record_kind;

namespace {

class timeline_builder {
public:
    timeline_builder(task_records& records, const thread_stream& stream, const first_runs& first,
                     const first_run& begin, const trace& loaded)
        : stream_(stream),
          first_(first),
          begin_(begin),
          first_folded_(records.first_folded),
          loaded_(loaded),
          lost_of_(records.lost_of),
          lost_any_(lost_any(loaded)),
          frames_(stream.thread, records.first_folded, records.has_scopes()) {}

    /// `index` is the op's index in task_records::ops. Returns whether it set the op's cause.
    bool take(task_op& op, std::uint32_t index) {
        index_ = index;
        const op_cause cause = op.cause;
        const std::uint32_t by = op.by;
        frames_.go_on(op.time_ns, op.position);
        switch (op.kind) {
            case record_kind::none: begin_chunk(op); break;
            case record_kind::resume: resume(op); break;
            case record_kind::suspend: suspend(op); break;
            case record_kind::finish: finish(op); break;
            case record_kind::transfer:
            case record_kind::finish_transfer: transfer(op); break;
            case record_kind::cancel: cancel(op); break;
            case record_kind::context: enter_context(op); break;
            case record_kind::spawn:
                if ((op.value & coroscope::trace::spawn_started) != 0) start(op);
                break;
            default: break;  // wakes and edges concern no thread
        }
        frames_.note();
        return op.cause != cause || op.by != by;
    }

    // After its last record, a thread that dropped records may have done anything. Any other thread
    // still runs the task on top, and the tasks below are still suspended.
    timeline finish_stream(std::int64_t end_ns) {
        const bool incomplete =
            loaded_.threads[stream_.thread].dropped_newest != 0 || stream_.lacks_end;
        const std::int64_t known_ns =
            stream_.chunk_ends_ns.empty() ? 0 : stream_.chunk_ends_ns.back();
        frames_.set_now(std::max(frames_.owned_until_ns(), incomplete ? known_ns : end_ns));
        frames_.own();
        for (std::size_t place = 1; incomplete && place < frames_.depth(); ++place)
            lose(frames_.at(place).task);
        frames_.end();
        return frames_.take();
    }

private:
    // Returns whether the thread left a task at the next frame's place in the stack and has not
    // returned to the frame below.
    [[nodiscard]] bool continues() const {
        return !departed_.empty() && departed_.back().depth == frames_.depth();
    }

    // Returns whether a symmetric transfer left the next frame's place in the stack. The transfer
    // restored the context below first.
    [[nodiscard]] bool transferred(const task_op& op) const {
        return has(op, coroscope::trace::resume_handed_over) &&
               !has(op, coroscope::trace::resume_called) && last_left_.depth == frames_.depth();
    }

    [[nodiscard]] static bool has(const task_op& op, coroscope::trace::resume_flags flag) {
        return (op.value & flag) != 0;
    }

    void run(std::uint32_t task) { run(task, continues()); }

    void run(std::uint32_t task, bool continues) {
        if (task == none) return;
        if (task == frames_.current() && frames_.in_slice()) {
            lose(task);  // resumed while it runs: its suspend record is missing
            if (!frames_.top().guessed) return;
            frames_.own();
            frames_.drop();
        }
        frames_.run(task, continues);
    }

    void lose(std::uint32_t task) {
        if (task != none) lost_of_[task] = true;
    }

    // Makes `task` the top of the stack. The frames above it, or all frames if it is not on the
    // stack, ended at an unknown time, not before `known_ns`.
    void bring_to(std::uint32_t task, std::int64_t known_ns) {
        if (task == frames_.current()) return;
        const std::size_t place = frames_.find(task);
        if (place == 0 && first_.came_unseen(task, index_)) return enter_unseen(task);
        unwind_to(place + 1, known_ns);
        if (task == none || frames_.current() == task) return;
        lose(task);
        guess(task);
    }

    void guess(std::uint32_t task) {
        run(task);
        frames_.top().guessed = task != none;
    }

    // Keeps the tasks below, because there would be records if they had left. Drops a frame that
    // came unseen before: it may have left unseen, too.
    void enter_unseen(std::uint32_t task) {
        while (frames_.top().guessed && frames_.top().kind == frame_kind::context) frames_.pop();
        enter_without_slice(task);
        frames_.top().guessed = true;
    }

    void enter_without_slice(std::uint32_t task) {
        task < first_folded_ ? frames_.enter_context(task) : frames_.run(task, false);
    }

    void unwind_to(std::size_t depth, std::int64_t known_ns) {
        const std::int64_t now_ns = frames_.now_ns();
        const std::int64_t from_ns = frames_.owned_until_ns();
        frames_.set_now(std::clamp(known_ns, from_ns, std::max(from_ns, now_ns)));
        frames_.own();
        while (frames_.depth() > depth) end_unseen();
        frames_.set_now(now_ns);
        frames_.own();
    }

    // A task that was on the stack when the session began may have been in its await_suspend. Then
    // it did not run here, and no record of it is missing.
    void end_unseen() {
        const bool guessed = frames_.top().guessed;
        if (!guessed || lost_any_) lose(frames_.current());
        guessed ? frames_.drop() : frames_.pop();
    }

    // Makes the task that a record names as the previous one the top of the stack. Either the
    // thread ran that task, or it is in the task's await_suspend, while the task is suspended or
    // has ended. No record shows the return from await_suspend; it is known only when a record
    // names the frame below.
    void return_to(std::uint32_t named) { return_to(named, frames_.now_ns()); }

    void return_to(std::uint32_t named, std::int64_t known_ns) {
        const std::uint32_t task = frames_.meant_by(named);
        drop_departed(frames_.depth() + 1);
        const departure* const departed = find_departure(task);
        if (task != none && departed != nullptr && frames_.find(task) < departed->depth) {
            unwind_to(departed->depth, known_ns);
            while (&departed_.back() != departed) departed_.pop_back();
        } else {
            bring_to(task, known_ns);
            drop_departed(frames_.depth());
        }
    }

    void depart(const task_op& op) {
        return_to(op.other);
        last_left_ = {op.task, frames_.depth(), op.kind == record_kind::finish,
                      frames_.slices_run()};
        departed_.push_back(last_left_);
    }

    void drop_departed(std::size_t depth) {
        while (!departed_.empty() && departed_.back().depth >= depth) departed_.pop_back();
    }

    // Returns the latest departure of the task, or null.
    [[nodiscard]] const departure* find_departure(std::uint32_t task) const {
        const std::size_t place = departed_.find(task);
        return place == departed_.nowhere ? nullptr : &departed_[place];
    }

    void begin_chunk(const task_op& op) {
        if (op.value == 0) return begin_stack();
        if (!stream_.stands_behind_gap.empty() && stream_.stands_behind_gap[op.value])
            return begin_anew(op);
        return_to(op.task,
                  may_have_gaps() ? stream_.chunk_ends_ns[op.value - 1] : frames_.now_ns());
    }

    void begin_stack() {
        frames_.set_now(begin_.since_ns);
        for (const first_frame& each : begin_.frames) {
            each.kind == first_kind::context ? enter_without_slice(each.task)
                                             : frames_.run(each.task, false);
            frames_.set_initial(each.quiet);
            frames_.top().guessed = each.kind != first_kind::slice;
        }
    }

    // Called if chunks before this one are missing: tasks may have left the thread and come back.
    void begin_anew(const task_op& op) {
        unwind_to(1, stream_.chunk_ends_ns[op.value - 1]);
        drop_departed(0);
        suspended_ = {};
        last_left_ = {};
        bring_to(op.task, frames_.now_ns());
    }

    // The thread's first records are the ones that are overwritten.
    [[nodiscard]] bool may_have_gaps() const {
        return loaded_.threads[stream_.thread].dropped_newest != 0 ||
               loaded_.health.damaged_chunks != 0;
    }

    // The task runs as soon as it is created, on top of its creator.
    void start(const task_op& op) {
        return_to(op.other);
        run(op.task);
        last_left_ = {};
    }

    void resume(task_op& op) {
        return_to(op.other);
        name_resumer(op);
        run(op.task, transferred(op) || continues());
        last_left_ = {};
    }

    // A symmetric transfer restores the context below before the resume, so the resumer is the task
    // that left last. A task that completes a future or a device's work calls the awaiting
    // coroutine on top of itself. Older recordings do not distinguish the two; there it is the
    // current task if no task has left since it began to run.
    void name_resumer(task_op& op) const {
        const std::uint32_t previous = op.other;
        if (has(op, coroscope::trace::resume_handed_over)) {
            const bool on_top =
                frames_.in_slice() && previous != none && frames_.current() == previous;
            const bool called = has(op, coroscope::trace::resume_called);
            if (called || (on_top && last_left_.task == none)) {
                op.by = on_top ? previous : none;
                op.cause = op_cause::call;
            } else {
                name_resumer(op, last_left_.task, last_left_.finished);
            }
        } else if (previous == none || previous == op.task || previous >= first_folded_ ||
                   frames_.meant_by(previous) != previous) {
            return;
        } else if (frames_.current() != previous) {
            name_suspended(op, previous);
        } else if (frames_.in_slice()) {
            op.by = previous;
            op.cause = op_cause::body;
        }
    }

    // If other tasks ran in the suspension, one of them may have resumed the task, or the task may
    // have been ready before they ran: the waker and the time of the wake are unknown.
    void name_suspended(task_op& op, std::uint32_t by) const {
        const departure* const departed = find_departure(by);
        const bool finished = departed != nullptr && departed->finished;
        const bool others_ran = departed != nullptr && departed->slices_run != frames_.slices_run();
        if (others_ran && finished) return;
        name_resumer(op, by, finished);
        if (others_ran) op.cause = op_cause::after_others;
    }

    static void name_resumer(task_op& op, std::uint32_t by, bool finished) {
        op.by = by;
        op.cause = finished ? op_cause::final_suspension : op_cause::await_suspension;
    }

    // Removes contexts above a slice that ends. Their end was not recorded: a context ends before
    // the slice below it.
    void leave_contexts() {
        while (frames_.top().kind == frame_kind::context) frames_.pop();
    }

    // Ends the slice of `task`, if it is known to have one on this thread.
    void end_slice(std::uint32_t task) {
        frames_.own();
        leave_contexts();
        const std::int64_t now_ns = frames_.now_ns();
        while (frames_.find(task) != 0) {
            bring_to(task, now_ns);
            if (frames_.top().kind != frame_kind::context) break;
            frames_.pop();
        }
        if (frames_.find(task) == 0) {
            if (!first_.came_unseen(task, index_)) lose(task);
            return;
        }
        frames_.top().guessed = false;
        frames_.pop();
    }

    void suspend(const task_op& op) {
        if (op.task != none && frames_.current() == op.task && frames_.in_slice()) {
            forget_suspension(op.task);
            suspended_[suspensions_++ % suspended_.size()] = frames_.remember();
        }
        end_slice(op.task);
        depart(op);
    }

    void finish(const task_op& op) {
        constexpr std::uint32_t not_running =
            coroscope::trace::finish_destroyed | coroscope::trace::finish_cancelled;
        if ((op.value & not_running) != 0 && frames_.current() != op.task) return;
        end_slice(op.task);
        depart(op);
    }

    void transfer(const task_op& op) {
        end_slice(op.task);
        last_left_ = {op.task, frames_.depth(), op.kind == record_kind::finish_transfer,
                      frames_.slices_run()};
        run(op.other, true);
    }

    void forget_suspension(std::uint32_t task) {
        for (thread_frames::suspension& earlier : suspended_)
            if (earlier.ended.task == task) earlier.ended.task = none;
    }

    // The suspension was taken back. If other tasks ran meanwhile, it counts as an await, and a new
    // slice of the task begins. Else it does not count, and the slice before it goes on.
    void cancel(task_op& op) {
        const auto made = std::find_if(suspended_.begin(), suspended_.end(),
                                       [&op](const thread_frames::suspension& each) {
                                           return each.ended.task == op.task && op.task != none;
                                       });
        if (made != suspended_.end() && frames_.can_undo(*made)) {
            frames_.undo(*made);
        } else if (frames_.current() != op.task || !frames_.in_slice()) {
            run_again(op, made != suspended_.end());
        }
        forget_suspension(op.task);
    }

    void run_again(task_op& op, bool suspended) {
        if (suspended || find_departure(op.task) != nullptr) {
            op.cause = op_cause::tasks_ran;
            if (last_left_.finished) op.by = last_left_.task;
            if (find_departure(op.task) != nullptr) return_to(op.task);
        }
        run(op.task);
    }

    void enter_context(const task_op& op) {
        return_to(op.other);
        const std::uint32_t task = frames_.meant_by(op.task);
        std::size_t at = frames_.depth() - 1;
        while (at > 0 && frames_.at(at).kind == frame_kind::context && frames_.at(at).task != task)
            --at;
        frames_.own();
        if (frames_.at(at).task == task) {
            while (frames_.depth() - 1 > at) frames_.pop();
        } else {
            frames_.enter_context(task);
        }
    }

    const thread_stream& stream_;
    const first_runs& first_;
    const first_run& begin_;
    std::uint32_t first_folded_;
    const trace& loaded_;
    std::vector<bool>& lost_of_;
    bool lost_any_;
    std::uint32_t index_ = 0;  // of the current op
    thread_frames frames_;
    task_stack<departure> departed_;
    departure last_left_;
    // The latest suspensions, in a ring. If other suspensions have replaced one, tasks have run
    // since, so undo() would not apply to it.
    std::array<thread_frames::suspension, 8> suspended_;
    std::size_t suspensions_ = 0;
};

}  // namespace

timeline build_timeline(task_records& records, std::size_t stream, const first_runs& first,
                        const trace& loaded) {
    const thread_stream& of = records.streams[stream];
    records.lost_of.resize(loaded.tasks.size());
    timeline_builder builder(records, of, first, first.of(stream), loaded);
    records.ops.update(of.first_op, of.end_op, [&builder](task_op& op, std::size_t index) {
        return builder.take(op, static_cast<std::uint32_t>(index));
    });
    return builder.finish_stream(loaded.duration_ns);
}

}  // namespace coroscope::analysis::inline tasks
