// SPDX-License-Identifier: Apache-2.0
#include "thread_timeline.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace coroscope::analysis::loading {

using coroscope::trace::record_kind;

namespace {

enum class frame_kind : std::uint8_t { thread, slice, context, job };

struct frame {
    std::uint32_t task = none;
    frame_kind kind = frame_kind::thread;
    std::int64_t start_ns = 0;
    std::int64_t own_ns = 0;
    bool guessed = false;  // nobody saw it come
};

class timeline_builder {
public:
    timeline_builder(const thread_stream& stream, const first_run& first,
                     std::uint32_t first_folded, trace& loaded)
        : stream_(stream),
          first_(first),
          unnamed_(first.unnamed ? first.task : none),
          first_folded_(first_folded),
          loaded_(loaded),
          lost_any_(lost_any(loaded)),
          frames_(1) {
        built_.switches.emplace_back();
    }

    void take(const task_op& op) {
        position_ = op.position;
        now_ns_ = std::max(op.time_ns, owned_until_ns_);
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
                if ((op.value & coroscope::trace::spawn_started) != 0) run(op.task);
                break;
            default: break;  // wakes and edges concern no thread
        }
        note();
    }

    // A thread that dropped records at its end may have done anything since; one that did not still
    // runs what it ran.
    timeline finish_stream(std::int64_t end_ns) {
        const bool incomplete = loaded_.threads[stream_.thread].dropped_newest != 0;
        const std::int64_t known_ns =
            stream_.chunk_ends_ns.empty() ? 0 : stream_.chunk_ends_ns.back();
        now_ns_ = std::max(owned_until_ns_, incomplete ? known_ns : end_ns);
        own();
        while (frames_.size() > 1) {
            if (incomplete) lose(frames_.back().task);
            pop();
        }
        return std::move(built_);
    }

private:
    [[nodiscard]] std::uint32_t current() const { return frames_.back().task; }

    // The frame whose own time passes: contexts and jobs leave it to the slice below.
    [[nodiscard]] frame& owner() {
        std::size_t at = frames_.size() - 1;
        while (frames_[at].kind == frame_kind::context || frames_[at].kind == frame_kind::job) --at;
        return frames_[at];
    }

    [[nodiscard]] std::uint32_t scope_task() const {
        std::size_t at = frames_.size() - 1;
        while (frames_[at].kind == frame_kind::job) --at;
        return frames_[at].task;
    }

    void own() {
        owner().own_ns += now_ns_ - owned_until_ns_;
        owned_until_ns_ = now_ns_;
    }

    void note() {
        const frame& owning = owner();
        const switch_point& last = built_.switches.back();
        const std::uint32_t task = scope_task();
        if (last.group == owning.task && last.task == task && !owner_changed_) return;
        built_.switches.push_back({now_ns_, owning.own_ns, position_, owning.task, task});
        owner_changed_ = false;
    }

    void push(std::uint32_t task, frame_kind kind) {
        own();
        frames_.push_back({task, kind, now_ns_, 0});
        owner_changed_ = true;
    }

    // Precondition: a frame stands above the thread's own.
    void pop() {
        const frame& ended = frames_.back();
        if (ended.kind == frame_kind::slice)
            built_.slices.push_back({slice{ended.start_ns, std::max(ended.start_ns, now_ns_),
                                           ended.task, stream_.thread},
                                     ended.own_ns, ended.guessed});
        drop();
    }

    void drop() {
        frames_.pop_back();
        owner_changed_ = true;
    }

    void run(std::uint32_t task) {
        if (task == none) return;
        if (task == current() && frames_.back().kind == frame_kind::slice) {
            lose(task);  // resumed while it runs: its suspension is missing
            if (!frames_.back().guessed) return;
            own();
            drop();
        }
        push(task, task >= first_folded_ ? frame_kind::job : frame_kind::slice);
    }

    void lose(std::uint32_t task) {
        if (task != none) loaded_.tasks[task].losses = true;
    }

    // Only a damaged stream nests deeper than the searches go.
    static constexpr std::size_t depth_limit = 4096;

    // The uppermost frame of `task`, or 0.
    [[nodiscard]] std::size_t find_frame(std::uint32_t task) const {
        const std::size_t top = frames_.size() - 1;
        for (std::size_t depth = 0; depth < top && depth < depth_limit; ++depth)
            if (frames_[top - depth].task == task) return top - depth;
        return 0;
    }

    // Brings the stack to `task`. Frames above it, or all of them if it is not there, ended at a
    // moment nobody saw, at `known_ns` at the earliest.
    void bring_to(std::uint32_t task, std::int64_t known_ns) {
        if (task == current()) return;
        unwind_to(find_frame(task) + 1, known_ns);
        if (task == none || current() == task) return;
        lose(task);
        guess(task);
    }

    void guess(std::uint32_t task) {
        run(task);
        frames_.back().guessed = task != none;
    }

    void unwind_to(std::size_t frames, std::int64_t known_ns) {
        const std::int64_t now_ns = now_ns_;
        now_ns_ = std::clamp(known_ns, owned_until_ns_, std::max(owned_until_ns_, now_ns));
        own();
        while (frames_.size() > frames) {
            end_unseen();
        }
        now_ns_ = now_ns;
        own();
    }

    // One that was there where the session began may have been in its await_suspend: then it lost nothing.
    void end_unseen() {
        const bool guessed = frames_.back().guessed;
        if (!guessed || lost_any_) lose(current());
        guessed ? drop() : pop();
    }

    // The same for what a record says that the thread did before: it ran that task, or is in its await_suspend,
    // in which the task is suspended, or over, already. No record tells when that returns; what the thread is
    // known to do below it does.
    void return_to(std::uint32_t named) { return_to(named, now_ns_); }

    void return_to(std::uint32_t named, std::int64_t known_ns) {
        const std::uint32_t task = meant(named);
        drop_departed(frames_.size() + 1);
        const auto departed =
            std::find_if(departed_.rbegin(), departed_.rend(),
                         [task](const departure& candidate) { return candidate.task == task; });
        if (task != none && departed != departed_.rend() && find_frame(task) < departed->frames) {
            unwind_to(departed->frames, known_ns);
            departed_.erase(departed.base(), departed_.end());
        } else {
            bring_to(task, known_ns);
            drop_departed(frames_.size());
        }
    }

    // Below an unnamed task there is nothing to return to: who returns to no task returns to it.
    [[nodiscard]] std::uint32_t meant(std::uint32_t named) const {
        return named == none ? unnamed_ : named;
    }

    void depart(const task_op& op) {
        return_to(op.other);
        if (departed_.size() < depth_limit) departed_.push_back({op.task, frames_.size()});
    }

    void drop_departed(std::size_t frames) {
        while (!departed_.empty() && departed_.back().frames >= frames) departed_.pop_back();
    }

    void begin_chunk(const task_op& op) {
        if (op.value == 0) {  // what ran when the thread joined the session
            now_ns_ = first_.since_ns;
            std::for_each(first_.below.rbegin(), first_.below.rend(),
                          [this](std::uint32_t task) { run(task); });
            guess(first_.task);
            return;
        }
        return_to(op.task, may_have_gaps() ? stream_.chunk_ends_ns[op.value - 1] : now_ns_);
    }

    // What is overwritten is what the thread wrote first.
    [[nodiscard]] bool may_have_gaps() const {
        return loaded_.threads[stream_.thread].dropped_newest != 0 ||
               loaded_.health.damaged_chunks != 0;
    }

    void resume(const task_op& op) {
        return_to(op.other);
        run(op.task);
    }

    // A context is left before the slice below it ends; where it was not, the record of that is missing.
    void leave_contexts() {
        while (frames_.back().kind == frame_kind::context) pop();
    }

    // Ends the slice of `task`, if this thread knows of one.
    void end_slice(std::uint32_t task) {
        own();
        leave_contexts();
        if (task == unnamed_) unnamed_ = none;
        const std::size_t ended = find_frame(task);
        if (ended == 0) {
            lose(task);
            return;
        }
        for (bring_to(task, now_ns_); frames_.back().kind == frame_kind::context;
             bring_to(task, now_ns_))
            pop();
        if (current() != task || frames_.size() == 1) return;
        frames_.back().guessed = false;
        pop();
    }

    void suspend(const task_op& op) {
        const bool exact =
            op.task != none && current() == op.task && frames_.back().kind == frame_kind::slice;
        if (exact) {
            own();
            forget_suspension(op.task);
            suspended_[suspensions_++ % suspended_.size()] = {frames_.back(), built_.slices.size(),
                                                              built_.switches.size() + 1, now_ns_};
        }
        end_slice(op.task);
        depart(op);
    }

    void finish(const task_op& op) {
        constexpr std::uint32_t not_running =
            coroscope::trace::finish_destroyed | coroscope::trace::finish_cancelled;
        if ((op.value & not_running) != 0 && current() != op.task) return;
        end_slice(op.task);
        depart(op);
    }

    void transfer(const task_op& op) {
        end_slice(op.task);
        run(op.other);
    }

    void forget_suspension(std::uint32_t task) {
        for (undoable& earlier : suspended_)
            if (earlier.ended.task == task) earlier.ended.task = none;
    }

    // The suspension did not happen: the slice before it goes on, and the time since is its own unless
    // something else ran in it.
    void cancel(const task_op& op) {
        const auto undone =
            std::find_if(suspended_.begin(), suspended_.end(), [&op](const undoable& candidate) {
                return candidate.ended.task == op.task && op.task != none;
            });
        if (undone == suspended_.end()) {
            if (current() != op.task) run(op.task);
            return;
        }
        built_.slices[undone->slice].run.task = none;  // left out when slices are gathered
        owner_changed_ = built_.switches.size() != undone->switches;
        if (owner_changed_) {
            own();
        } else {
            built_.switches.pop_back();
            owned_until_ns_ = undone->time_ns;
        }
        frames_.push_back(undone->ended);
        undone->ended.task = none;
    }

    void enter_context(const task_op& op) {
        return_to(op.other);
        const std::uint32_t task = meant(op.task);
        std::size_t at = frames_.size() - 1;
        while (at > 0 && frames_[at].kind == frame_kind::context && frames_[at].task != task) --at;
        own();
        if (frames_[at].task == task) {
            while (frames_.size() - 1 > at) pop();
        } else {
            push(task, frame_kind::context);
        }
    }

    /// A task that was suspended or ended here, on top of so many frames, and may be in its await_suspend.
    struct departure {
        std::uint32_t task;
        std::size_t frames;
    };

    struct undoable {
        frame ended;
        std::size_t slice = 0;     // where its slice stands
        std::size_t switches = 0;  // how many there are while nothing else has happened
        std::int64_t time_ns = 0;
    };

    const thread_stream& stream_;
    const first_run first_;
    std::uint32_t unnamed_;  // first_.task, until it leaves
    std::uint32_t first_folded_;
    trace& loaded_;
    bool lost_any_;
    std::vector<frame> frames_;
    std::vector<departure> departed_;
    timeline built_;
    std::array<undoable, 8>
        suspended_;  // the latest; nested in one another at most by inline resumes
    std::size_t suspensions_ = 0;
    std::int64_t now_ns_ = 0;
    std::int64_t owned_until_ns_ = 0;
    std::uint32_t position_ = 0;
    bool owner_changed_ = false;
};

}  // namespace

timeline build_timeline(const thread_stream& stream, std::span<const task_op> ops,
                        const first_run& first, std::uint32_t first_folded, std::int64_t end_ns,
                        trace& loaded) {
    timeline_builder builder(stream, first, first_folded, loaded);
    for (std::uint32_t index = stream.first_op; index < stream.end_op; ++index)
        builder.take(ops[index]);
    return builder.finish_stream(end_ns);
}

}  // namespace coroscope::analysis::loading
