// SPDX-License-Identifier: Apache-2.0
#include "fold_jobs.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace coroscope::analysis::inline tasks {

using coroscope::trace::record_kind;

namespace {

// A job that runs this long before its first resume did work, even if it has no scope.
constexpr std::int64_t shortest_work_ns = 1'000'000;

struct job {
    bool posted = false;
    bool only_resumes = false;  ///< as far as records show
    bool worked = false;        ///< before the first resume
    bool dropped = false;       ///< known to only resume a task, and cancelled
    std::int64_t posted_ns = unknown_time;
    std::uint32_t poster = none;
    std::uint32_t thread = none;
    std::uint32_t executor = none;
    std::uint32_t stream = none;  ///< the stream of its start, and the record of it
    std::uint32_t begun_at = 0;
    std::int64_t begun_ns = 0;
    std::uint32_t first_resumed = none;
    std::uint32_t resumed_on = none;  ///< thread
    std::int64_t resumed_ns = 0;

    [[nodiscard]] bool is_folded() const { return dropped || (first_resumed != none && !worked); }
};

std::vector<job> find_posted(const task_records& records, std::size_t tasks) {
    std::vector<job> jobs;
    if (!records.has_jobs) return jobs;
    records.ops.for_each([&](const task_op& op, std::size_t) {
        if (op.kind != record_kind::spawn || (op.value & coroscope::trace::spawn_job) == 0 ||
            op.task == none)
            return;
        jobs.resize(tasks);
        job& posted = jobs[op.task];
        posted = {};
        posted.posted = true;
        posted.only_resumes = (op.value & coroscope::trace::spawn_only_resumes) != 0;
        posted.posted_ns = op.time_ns;
        posted.poster = op.other;
        posted.thread = op.thread;
        posted.executor = ready_executor_of(op);
    });
    return jobs;
}

void find_dropped(std::vector<job>& jobs, const task_records& records) {
    records.ops.for_each([&jobs](const task_op& op, std::size_t) {
        if (op.kind == record_kind::finish && op.task != none &&
            (op.value & coroscope::trace::finish_cancelled) != 0)
            jobs[op.task].dropped = jobs[op.task].only_resumes;
    });
}

// Returns whether the record of a scope, which is written at the scope's end, is between these
// positions.
bool ends_between(const std::vector<std::uint32_t>& scopes, std::uint32_t after,
                  std::uint32_t before) {
    const auto next = std::upper_bound(scopes.begin(), scopes.end(), after);
    return next != scopes.end() && *next < before;
}

bool has_worked(const job& running, const task_records& records, std::uint32_t stream,
                const task_op& resume) {
    if (running.only_resumes || running.stream != stream) return false;
    const thread_stream& on = records.streams[stream];
    return resume.time_ns - running.begun_ns >= shortest_work_ns ||
           ends_between(on.stack_scopes, running.begun_at, resume.position) ||
           ends_between(on.other_scopes, running.begun_at, resume.position);
}

void find_resumes(std::vector<job>& jobs, const task_records& records, std::uint32_t stream) {
    const thread_stream& on = records.streams[stream];
    for (std::uint32_t at = on.first_op; at < on.end_op; ++at) {
        const task_op op = records.ops[at];
        if (op.kind != record_kind::resume || op.task == none) continue;
        if (job& begun = jobs[op.task]; begun.posted && begun.stream == none) {
            begun.stream = stream;
            begun.begun_at = op.position;
            begun.begun_ns = op.time_ns;
        }
        if (op.other == none || op.task == op.other) continue;
        job& running = jobs[op.other];
        if (!running.posted || (running.first_resumed != none && running.resumed_ns <= op.time_ns))
            continue;
        running.first_resumed = op.task;
        running.resumed_on = op.thread;
        running.resumed_ns = op.time_ns;
        running.worked = has_worked(running, records, stream, op);
    }
}

std::vector<job> find_jobs(const task_records& records, std::size_t tasks) {
    std::vector<job> jobs = find_posted(records, tasks);
    if (jobs.empty()) return jobs;
    find_dropped(jobs, records);
    for (std::uint32_t stream = 0; stream < records.streams.size(); ++stream)
        find_resumes(jobs, records, stream);
    return jobs;
}

// The task at the end of a chain of folded jobs. The search is bounded, because damage may close
// the chain.
std::uint32_t behind(const std::vector<job>& jobs, std::uint32_t task) {
    for (std::size_t steps = 0; task != none && jobs[task].is_folded(); ++steps) {
        if (steps == jobs.size()) return none;
        task = jobs[task].poster;
    }
    return task;
}

// A job that worked wakes a task when it resumes it; one that did not work woke it when it was
// posted.
std::vector<task_op> wakes_of(const std::vector<job>& jobs) {
    std::vector<task_op> wakes;
    for (std::uint32_t number = 0; number < jobs.size(); ++number) {
        const job& each = jobs[number];
        if (each.first_resumed == none || (!each.worked && each.posted_ns == unknown_time))
            continue;
        task_op wake;
        wake.kind = record_kind::wake;
        wake.time_ns = each.worked ? each.resumed_ns : std::max<std::int64_t>(0, each.posted_ns);
        wake.task = each.first_resumed;
        wake.other = each.worked ? number : behind(jobs, each.poster);
        wake.value = each.worked ? each.resumed_on : each.thread;
        wake.site = each.worked ? none : each.executor;
        wakes.push_back(wake);
    }
    return wakes;
}

void renumber(task_records& records, const std::vector<job>& jobs, trace& loaded) {
    packed_list<task_info> kept;
    records.renumbered.resize(jobs.size());
    const packed_list<task_info>& tasks = loaded.tasks;
    for (std::size_t task = 0; task < jobs.size(); ++task)
        if (!jobs[task].is_folded()) kept.append(tasks[task]);
    records.first_folded = static_cast<std::uint32_t>(kept.size());
    for (std::size_t task = 0; task < jobs.size(); ++task)
        if (jobs[task].is_folded()) kept.append(tasks[task]);
    std::uint32_t next_kept = 0, next_folded = records.first_folded;
    for (std::size_t task = 0; task < jobs.size(); ++task)
        records.renumbered[task] = jobs[task].is_folded() ? next_folded++ : next_kept++;
    loaded.tasks = std::move(kept);
    records.ops.update(0, records.ops.size(), [&records](task_op& op, std::size_t) {
        if (op.task != none) op.task = records.renumbered[op.task];
        if (op.other != none) op.other = records.renumbered[op.other];
        return true;
    });
    for (carry_op& op : records.attributes.ops)
        if (op.task != none) op.task = records.renumbered[op.task];
}

}  // namespace

void fold_jobs(task_records& records, trace& loaded) {
    records.first_folded = static_cast<std::uint32_t>(loaded.tasks.size());
    const std::vector<job> jobs = find_jobs(records, loaded.tasks.size());
    const auto matters = [](const job& each) {
        return each.first_resumed != none || each.is_folded();
    };
    if (std::none_of(jobs.begin(), jobs.end(), matters)) return;
    records.ops.update(0, records.ops.size(), [&jobs](task_op& op, std::size_t) {
        if (op.kind != record_kind::spawn && op.kind != record_kind::wake) return false;
        const std::uint32_t other = behind(jobs, op.other);
        return std::exchange(op.other, other) != other;
    });
    for (const task_op& wake : wakes_of(jobs)) records.ops.push_back(wake);
    renumber(records, jobs, loaded);
}

}  // namespace coroscope::analysis::inline tasks
