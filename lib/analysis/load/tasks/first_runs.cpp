// SPDX-License-Identifier: Apache-2.0
#include "first_runs.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace coroscope::analysis::inline tasks {

using coroscope::trace::record_kind;

namespace {

// The record by which a task of the first stack leaves its thread.
struct departure {
    std::uint32_t task = none;
    std::uint32_t op = none;
    std::uint32_t next = none;  // the task that records name afterwards
    bool quiet = false;
    bool knows_next = false;
    bool in_context = false;  // a context had been put on this thread before
};

// Follows the records of a thread to the last departure from its first stack.
class stack_search {
public:
    explicit stack_search(std::size_t tasks) : names_(tasks, naming::none) {}

    /// `leaving` has the records of the stream by which tasks leave that no record brought to a
    /// thread.
    std::vector<departure> find(const task_records& records, const thread_stream& stream,
                                std::span<const std::uint32_t> leaving) {
        tell(records.ops[stream.first_op].task, naming::below);
        for (std::uint32_t at = stream.first_op + 1; at < stream.end_op; ++at) {
            if (leaving.empty() && in_place_ == none) break;
            const bool is_first = !leaving.empty() && leaving.front() == at;
            if (is_first) leaving = leaving.subspan(1);
            const task_op op = records.ops[at];
            if (is_first && names_[op.task] != naming::other) depart(op.task, at);
            follow(op);
        }
        for (const std::uint32_t task : named_) names_[task] = naming::none;
        named_.clear();
        in_place_ = none;
        saw_context_ = false;
        return std::exchange(found_, {});
    }

private:
    // How records came to name a task: the frame above it left, or the task came without a record.
    enum class naming : std::uint8_t { none, below, other };

    void depart(std::uint32_t task, std::uint32_t op) {
        found_.push_back({task, op, none, names_[task] == naming::none, false, saw_context_});
        in_place_ = task;
    }

    void follow(const task_op& op) {
        constexpr std::uint32_t told_again = coroscope::trace::spawn_adopted;
        switch (op.kind) {
            case record_kind::suspend:
            case record_kind::finish:
                if (op.task == in_place_ && op.task != none && leaves_thread(op)) return go_on(op);
                tell(op.other, naming::other);
                break;
            case record_kind::transfer:
            case record_kind::finish_transfer:
                if (op.task == in_place_ && op.task != none) in_place_ = op.other;
                break;
            case record_kind::context: change_context(op); break;
            case record_kind::spawn:
                if ((op.value & told_again) == 0) tell(op.other, naming::other);
                break;
            case record_kind::resume: tell(op.other, naming::other); break;
            case record_kind::none: tell(op.task, naming::other); break;
            default: break;
        }
    }

    void change_context(const task_op& op) {
        const bool restores = (op.value & coroscope::trace::context_restored) != 0;
        tell(op.other, naming::other);
        tell(op.task, restores ? naming::below : naming::other);
        saw_context_ |= !restores;
    }

    void go_on(const task_op& left) {
        in_place_ = none;
        found_.back().next = left.other;
        found_.back().knows_next = true;
        tell(left.other, naming::below);
    }

    void tell(std::uint32_t task, naming how) {
        if (task == none || names_[task] != naming::none) return;
        names_[task] = how;
        named_.push_back(task);
    }

    std::vector<departure> found_;
    std::uint32_t in_place_ = none;  // the last departure, or the task that it transferred to
    bool saw_context_ = false;
    std::vector<naming> names_;  // by task
    std::vector<std::uint32_t> named_;
};

// Builds a stack from the top to the bottom. It consists of the tasks that left and of frames that
// records name but that never leave. If a task below such a frame left, the frame is a context.
class stack_builder {
public:
    stack_builder(std::uint32_t first_named, std::span<const departure> left)
        : left_(left), staying_(none) {
        for (const departure& each : left) tasks_.push_back(each.task);
        std::sort(tasks_.begin(), tasks_.end());
        name(first_named);
    }

    std::vector<first_frame> build(const first_moves& moves) {
        for (const departure& each : left_) add(each);
        if (staying_ != none) {
            frames_.push_back(
                {staying_, may_run(moves) ? first_kind::found : first_kind::context, false});
        }
        std::reverse(frames_.begin(), frames_.end());
        return std::move(frames_);
    }

private:
    // Below a quiet task that left there may be more quiet tasks that did not leave.
    [[nodiscard]] bool may_run(const first_moves& moves) const {
        return left_.empty() ||
               (!left_.back().quiet && moves.begins_with(staying_, left_.back().op));
    }

    void add(const departure& each) {
        const bool stays_below = each.quiet && (!each.knows_next || each.next == staying_);
        if (!stays_below && staying_ != none)
            frames_.push_back({staying_, first_kind::context, false});
        frames_.push_back({each.task, first_kind::slice, each.quiet});
        if (!stays_below) name(each.next);
    }

    void name(std::uint32_t task) {
        staying_ = std::binary_search(tasks_.begin(), tasks_.end(), task) ? none : task;
    }

    std::span<const departure> left_;
    std::vector<std::uint32_t> tasks_;  // that left, sorted
    std::uint32_t staying_;             // current by name, and does not leave
    std::vector<first_frame> frames_;
};

}  // namespace

bool lost_any(const trace& loaded) {
    return loaded.health.lost_records() || loaded.health.damaged_chunks != 0 ||
           !loaded.health.warnings.empty();
}

// A session of one thread comes to other threads with contexts and tasks. So if a task without a
// context leaves a thread, and no context was put on that thread before, the session was started in
// that task.
first_runs::first_runs(task_records& records, const trace& loaded)
    : moves_(records.ops, loaded.tasks.size()), lost_any_(lost_any(loaded)) {
    const std::vector<std::uint32_t> leaving =
        lost_any_ ? std::vector<std::uint32_t>() : moves_.find_leaving();
    stack_search search(loaded.tasks.size());
    for (const thread_stream& stream : records.streams) {
        first_run& found = by_stream_.emplace_back();
        if (stream.first_op == stream.end_op) continue;
        const auto begin = std::lower_bound(leaving.begin(), leaving.end(), stream.first_op);
        const auto end = std::lower_bound(begin, leaving.end(), stream.end_op);
        const std::vector<departure> left = search.find(records, stream, std::span(begin, end));
        const task_op opening = records.ops[stream.first_op];
        const bool is_old = loaded.all_threads
                                ? !left.empty() || came_unseen(opening.task, stream.first_op)
                                : !left.empty() && left.front().quiet && !left.front().in_context;
        found.since_ns = is_old ? 0 : opening.time_ns;
        found.frames = stack_builder(opening.task, left).build(moves_);
        const bool is_found =
            !found.frames.empty() && found.frames.front().kind == first_kind::found;
        records.ops.change(stream.first_op, [&](task_op& op) {
            op.task = is_found ? found.frames.front().task : none;
        });
    }
}

}  // namespace coroscope::analysis::inline tasks
