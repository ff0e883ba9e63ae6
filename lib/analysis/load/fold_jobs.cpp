// SPDX-License-Identifier: Apache-2.0
#include "fold_jobs.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace coroscope::analysis::loading {

using coroscope::trace::record_kind;

namespace {

struct job {
    bool posted = false;
    std::int64_t posted_ns = unknown_time;
    std::uint32_t poster = none;
    std::uint32_t thread = none;
    std::uint32_t first_resumed = none;
    std::int64_t resumed_ns = 0;
};

std::vector<job> find_jobs(const task_records& records, std::size_t tasks) {
    std::vector<job> jobs;
    for (const task_op& op : records.ops) {
        if (op.kind != record_kind::spawn || (op.value & coroscope::trace::spawn_job) == 0 ||
            op.task == none)
            continue;
        jobs.resize(tasks);
        jobs[op.task] = {true, op.time_ns, op.other, op.thread, none, 0};
    }
    if (jobs.empty()) return jobs;
    for (const task_op& op : records.ops) {
        if (op.kind != record_kind::resume || op.other == none || op.task == none ||
            op.task == op.other)
            continue;
        job& running = jobs[op.other];
        if (!running.posted || (running.first_resumed != none && running.resumed_ns <= op.time_ns))
            continue;
        running.first_resumed = op.task;
        running.resumed_ns = op.time_ns;
    }
    return jobs;
}

// The task that stands behind a chain of folded jobs. The chain is bounded: damage may close it.
std::uint32_t behind(const std::vector<job>& jobs, std::uint32_t task) {
    for (std::size_t steps = 0; task != none && jobs[task].first_resumed != none; ++steps) {
        if (steps == jobs.size()) return none;
        task = jobs[task].poster;
    }
    return task;
}

std::vector<task_op> wakes_of(const std::vector<job>& jobs) {
    std::vector<task_op> wakes;
    for (const job& folded : jobs) {
        if (folded.first_resumed == none || folded.posted_ns == unknown_time) continue;
        task_op wake;
        wake.kind = record_kind::wake;
        wake.time_ns = std::max<std::int64_t>(0, folded.posted_ns);
        wake.task = folded.first_resumed;
        wake.other = behind(jobs, folded.poster);
        wake.value = folded.thread;
        wakes.push_back(wake);
    }
    return wakes;
}

void renumber(task_records& records, const std::vector<job>& jobs, trace& loaded) {
    std::vector<task_info> kept, folded;
    records.renumbered.resize(jobs.size());
    for (std::size_t task = 0; task < jobs.size(); ++task)
        (jobs[task].first_resumed == none ? kept : folded).push_back(loaded.tasks[task]);
    records.first_folded = static_cast<std::uint32_t>(kept.size());
    std::uint32_t next_kept = 0, next_folded = records.first_folded;
    for (std::size_t task = 0; task < jobs.size(); ++task)
        records.renumbered[task] = jobs[task].first_resumed == none ? next_kept++ : next_folded++;
    std::move(folded.begin(), folded.end(), std::back_inserter(kept));
    loaded.tasks = std::move(kept);
    for (task_op& op : records.ops) {
        if (op.task != none) op.task = records.renumbered[op.task];
        if (op.other != none) op.other = records.renumbered[op.other];
    }
    for (carry_op& op : records.attributes.ops)
        if (op.task != none) op.task = records.renumbered[op.task];
}

}  // namespace

void fold_jobs(task_records& records, trace& loaded) {
    records.first_folded = static_cast<std::uint32_t>(loaded.tasks.size());
    const std::vector<job> jobs = find_jobs(records, loaded.tasks.size());
    const auto is_folded = [](const job& candidate) { return candidate.first_resumed != none; };
    if (std::none_of(jobs.begin(), jobs.end(), is_folded)) return;
    for (task_op& op : records.ops)
        if (op.kind == record_kind::spawn || op.kind == record_kind::wake)
            op.other = behind(jobs, op.other);
    const std::vector<task_op> wakes = wakes_of(jobs);
    records.ops.insert(records.ops.end(), wakes.begin(), wakes.end());
    renumber(records, jobs, loaded);
}

}  // namespace coroscope::analysis::loading
