// SPDX-License-Identifier: Apache-2.0
#include "task_relations.hpp"

#include <cstddef>

namespace coroscope::analysis::inline tasks {

using coroscope::trace::record_kind;

namespace {

// Deeper families of tasks are not followed.
constexpr std::size_t deepest_family = 64;

}  // namespace

task_relations::task_relations(const growing_list<task_op>& ops, std::size_t tasks)
    : parents_(tasks, none), first_runs_(tasks) {
    ops.for_each([this](const task_op& op, std::size_t) {
        if (op.task < parents_.size()) take(op);
    });
}

void task_relations::take(const task_op& op) {
    if (op.kind == record_kind::spawn) {
        std::uint32_t& parent = parents_[op.task];
        if (parent == none && op.other != op.task) parent = op.other;
    } else if (op.kind == record_kind::resume) {
        first_run& first = first_runs_[op.task];
        if (first.time_ns != unknown_time && first.time_ns <= op.time_ns) return;
        first = {op.time_ns, is_in_suspension(op) ? op.by : none};
    }
}

bool task_relations::is_wake(const task_op& resume, std::int64_t suspend_ns) const {
    if (resume.by >= parents_.size()) return false;
    if (resume.by == resume.task || is_descendant(resume.by, resume.task)) return true;
    const first_run& first = first_runs_[resume.by];
    return resume.cause == op_cause::final_suspension && first.by == resume.task &&
           first.time_ns >= suspend_ns;
}

bool task_relations::is_descendant(std::uint32_t task, std::uint32_t of) const {
    for (std::size_t depth = 0; depth < deepest_family; ++depth) {
        task = parents_[task];
        if (task >= parents_.size()) return false;
        if (task == of) return true;
    }
    return false;
}

}  // namespace coroscope::analysis::inline tasks
