// SPDX-License-Identifier: Apache-2.0
#include "first_moves.hpp"

#include <algorithm>
#include <tuple>

namespace coroscope::analysis::inline tasks {

using coroscope::trace::record_kind;

bool leaves_thread(const task_op& op) {
    constexpr std::uint32_t not_running =
        coroscope::trace::finish_destroyed | coroscope::trace::finish_cancelled;
    return op.kind == record_kind::suspend || op.kind == record_kind::transfer ||
           op.kind == record_kind::finish_transfer ||
           (op.kind == record_kind::finish && (op.value & not_running) == 0);
}

first_moves::first_moves(const growing_list<task_op>& ops, std::size_t tasks)
    : ops_(ops), first_(tasks, none), spawned_(tasks) {
    std::vector<std::int64_t> first_ns(tasks);
    ops.for_each([&](const task_op& op, std::size_t at) {
        take(op, static_cast<std::uint32_t>(at), first_ns);
    });
}

std::vector<std::uint32_t> first_moves::find_leaving() const {
    std::vector<std::uint32_t> leaving;
    for (std::uint32_t task = 0; task < first_.size(); ++task) {
        const std::uint32_t at = first_[task];
        if (at == none || spawned_[task]) continue;
        const task_op op = ops_[at];
        if (op.task == task && leaves_thread(op)) leaving.push_back(at);
    }
    std::sort(leaving.begin(), leaving.end());
    return leaving;
}

void first_moves::take(const task_op& op, std::uint32_t at, std::vector<std::int64_t>& first_ns) {
    const auto move = [&](std::uint32_t task) {
        if (task == none || (first_[task] != none && first_ns[task] <= op.time_ns)) return;
        first_[task] = at;
        first_ns[task] = op.time_ns;
    };
    switch (op.kind) {
        case record_kind::spawn:
            if (op.task != none && op.time_ns >= 0) spawned_[op.task] = true;
            break;
        case record_kind::transfer:
        case record_kind::finish_transfer:
            move(op.task);
            move(op.other);
            break;
        case record_kind::resume:
        case record_kind::suspend:
        case record_kind::cancel:
        case record_kind::finish: move(op.task); break;
        default: break;
    }
}

bool first_moves::before(std::uint32_t left, std::uint32_t right) const {
    return std::tuple(ops_[left].time_ns, left) < std::tuple(ops_[right].time_ns, right);
}

// The records of one thread are in order. Their times need not be: a chunk may be opened for a
// record that is dated earlier.
bool first_moves::follows(std::uint32_t later, std::uint32_t op) const {
    if (ops_[later].thread == ops_[op].thread) return later >= op;
    return !before(later, op);
}

}  // namespace coroscope::analysis::inline tasks
