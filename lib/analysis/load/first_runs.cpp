// SPDX-License-Identifier: Apache-2.0
#include "first_runs.hpp"

#include <cstddef>
#include <tuple>

namespace coroscope::analysis::loading {

using coroscope::trace::record_kind;

namespace {

// What is told of each task first, and which tasks began within the session.
class first_moves {
public:
    first_moves(const std::vector<task_op>& ops, std::size_t tasks)
        : ops_(ops), first_(tasks, none), spawned_(tasks) {
        for (std::uint32_t at = 0; at < ops.size(); ++at) take(at);
    }

    /// Whether the task is older than the session and nothing is told of it before that record.
    [[nodiscard]] bool begins_with(std::uint32_t task, std::uint32_t op) const {
        return !spawned_[task] && (first_[task] == none || follows(first_[task], op));
    }

    /// Whether that a task leaves a thread is told of it before anything else.
    [[nodiscard]] bool begins_by_leaving(std::uint32_t task, std::uint32_t thread) const;

private:
    void take(std::uint32_t at) {
        const task_op& op = ops_[at];
        switch (op.kind) {
            case record_kind::spawn:
                if (op.task != none && op.time_ns >= 0) spawned_[op.task] = true;
                break;
            case record_kind::transfer:
            case record_kind::finish_transfer:
                move(op.task, at);
                move(op.other, at);
                break;
            case record_kind::resume:
            case record_kind::suspend:
            case record_kind::cancel:
            case record_kind::finish: move(op.task, at); break;
            default: break;
        }
    }

    void move(std::uint32_t task, std::uint32_t at) {
        if (task != none && (first_[task] == none || before(at, first_[task]))) first_[task] = at;
    }

    [[nodiscard]] bool before(std::uint32_t left, std::uint32_t right) const {
        return std::tie(ops_[left].time_ns, left) < std::tie(ops_[right].time_ns, right);
    }

    // Of one thread's records the places tell: a chunk may be opened for one that is dated earlier.
    [[nodiscard]] bool follows(std::uint32_t later, std::uint32_t op) const {
        if (ops_[later].thread == ops_[op].thread) return later >= op;
        return !before(later, op);
    }

    const std::vector<task_op>& ops_;
    std::vector<std::uint32_t> first_;  // by task: index into ops
    std::vector<bool> spawned_;
};

bool concerns_no_thread(const task_op& op) {
    return op.kind == record_kind::none || op.kind == record_kind::wake ||
           op.kind == record_kind::awaiting ||
           (op.kind == record_kind::spawn && (op.value & coroscope::trace::spawn_started) == 0);
}

bool leaves(const task_op& op) {
    constexpr std::uint32_t not_running =
        coroscope::trace::finish_destroyed | coroscope::trace::finish_cancelled;
    return op.kind == record_kind::suspend || op.kind == record_kind::transfer ||
           op.kind == record_kind::finish_transfer ||
           (op.kind == record_kind::finish && (op.value & not_running) == 0);
}

bool first_moves::begins_by_leaving(std::uint32_t task, std::uint32_t thread) const {
    if (first_[task] == none) return false;
    const task_op& first = ops_[first_[task]];
    return first.thread == thread && first.task == task && leaves(first);
}

// Where the first task leaves, the record says what the thread returns to, and so on. One that was not there before the
// session is told to come; one that is not told to leave may be what a context names, and no slice.
std::vector<std::uint32_t> find_below(const task_records& records, const thread_stream& stream,
                                      const first_moves& moves, std::uint32_t first) {
    constexpr std::size_t depth_limit = 4096;  // only a damaged stream nests deeper
    std::vector<std::uint32_t> below;
    std::uint32_t leaving = first;
    for (std::uint32_t at = stream.first_op + 1; at < stream.end_op; ++at) {
        const task_op& op = records.ops[at];
        if (!leaves(op) || op.task != leaving) continue;
        const bool returns = op.kind == record_kind::suspend || op.kind == record_kind::finish;
        if (!returns || op.other == none || below.size() == depth_limit ||
            !moves.begins_with(op.other, at) || !moves.begins_by_leaving(op.other, stream.thread))
            break;
        below.push_back(leaving = op.other);
    }
    return below;
}

// The first task that leaves the thread without ever having come. Only a session of all threads tells of everything
// that comes, so in another one nothing may stand before it.
std::uint32_t unnamed_task(const task_records& records, const thread_stream& stream,
                           const first_moves& moves, bool all_threads) {
    for (std::uint32_t at = stream.first_op + 1; at < stream.end_op; ++at) {
        const task_op& op = records.ops[at];
        if (leaves(op) && op.task != none && moves.begins_with(op.task, at)) return op.task;
        if (!all_threads && !concerns_no_thread(op)) break;
    }
    return none;
}

}  // namespace

bool lost_any(const trace& loaded) {
    return loaded.health.lost_records() || loaded.health.damaged_chunks != 0 ||
           !loaded.health.warnings.empty();
}

std::vector<first_run> find_first_runs(const task_records& records, const trace& loaded) {
    const first_moves moves(records.ops, loaded.tasks.size());
    const bool lost = lost_any(loaded);
    std::vector<first_run> runs;
    for (const thread_stream& stream : records.streams) {
        first_run& found = runs.emplace_back();
        if (stream.first_op == stream.end_op) continue;
        const task_op& begin = records.ops[stream.first_op];
        found = {begin.task, begin.time_ns, false, {}};
        if (begin.task == none && !lost) {
            found.task = unnamed_task(records, stream, moves, loaded.all_threads);
            found.unnamed = found.task != none;
        }
        if (found.task != none && !lost && loaded.all_threads &&
            moves.begins_with(found.task, stream.first_op))
            found.since_ns = 0;
        if (found.task != none && !lost)
            found.below = find_below(records, stream, moves, found.task);
    }
    return runs;
}

}  // namespace coroscope::analysis::loading
