// SPDX-License-Identifier: Apache-2.0
#include "executor_runs.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>

namespace coroscope::analysis::inline executor_answers {
namespace {

std::int64_t last_moment(const trace& loaded, const task_info& task) {
    return task.end_ns.value_or(loaded.duration_ns);
}

bool names_executor(const trace& loaded, std::uint32_t executor) {
    return executor < loaded.executors.size();
}

void add_job(std::vector<queued_job>& to, std::uint32_t executor, std::int64_t from_ns,
             const optional_ns& run_ns, std::int64_t last_ns) {
    const std::int64_t to_ns = std::max(from_ns, run_ns.value_or(last_ns));
    to.push_back({from_ns, to_ns, executor, run_ns.has_value()});
}

void add_first_job(const trace& loaded, const task_info& task, std::vector<queued_job>& to) {
    if (!names_executor(loaded, task.executor) || task.older_than_session || !task.first_wake_ns)
        return;
    optional_ns run_ns;
    if (!task.slices.empty()) run_ns = loaded.slices[task.slices.front()].start_ns;
    add_job(to, task.executor, *task.first_wake_ns, run_ns, last_moment(loaded, task));
}

void add_woken_jobs(const trace& loaded, const task_info& task, std::vector<queued_job>& to) {
    for (const std::uint32_t at : task.awaits) {
        const await_info& await = loaded.awaits[at];
        if (names_executor(loaded, await.executor) && await.wake_ns)
            add_job(to, await.executor, *await.wake_ns, await.resume_ns, last_moment(loaded, task));
    }
}

/// The runs of one task, with the executors of the awaits that they end.
class run_finder {
public:
    run_finder(const trace& loaded, std::uint32_t number, std::vector<executor_run>& to)
        : loaded_(loaded), task_(loaded.tasks[number]), number_(number), to_(to) {}

    void find() {
        const std::size_t first = to_.size();
        for (const std::uint32_t at : task_.slices) {
            const slice& ran = loaded_.slices[at];
            const std::optional<await_info> ended = await_ended_at(ran.start_ns);
            const bool goes_on = ended && ended->handed_over && ended->site == none &&
                                 to_.size() != first && to_.back().thread == ran.thread;
            if (goes_on) {
                to_.back().end_ns = ran.end_ns;
                ++to_.back().slices;
                continue;
            }
            std::uint32_t executor = ended ? ended->executor : none;
            if (to_.size() == first && executor == none && !task_.older_than_session)
                executor = task_.executor;
            if (!names_executor(loaded_, executor)) executor = none;
            const bool at_once = ended && ended->wake_ns && *ended->wake_ns == ran.start_ns;
            to_.push_back({ran.start_ns, ran.end_ns, number_, ran.thread, at, 1, executor,
                           executor != none, at_once ? ended->waker : none});
        }
    }

private:
    /// The last await that ended at that moment, if one did. The moments must not decrease.
    std::optional<await_info> await_ended_at(std::int64_t time_ns) {
        std::optional<await_info> found;
        for (; next_ < task_.awaits.size(); ++next_) {
            const await_info& await = loaded_.awaits[task_.awaits[next_]];
            if (!await.resume_ns || *await.resume_ns > time_ns) break;
            if (*await.resume_ns == time_ns) found = await;
        }
        return found;
    }

    const trace& loaded_;
    task_info task_;
    std::uint32_t number_;
    std::vector<executor_run>& to_;
    std::size_t next_ = 0;
};

// Gives the runs that no executor began the executor of the run before.
void inherit_executors(std::vector<executor_run>& runs) {
    std::vector<std::size_t> open;
    std::size_t ended = runs.size();
    for (std::size_t at = 0; at < runs.size(); ++at) {
        executor_run& run = runs[at];
        if (at != 0 && runs[at - 1].thread != run.thread) {
            open.clear();
            ended = runs.size();
        }
        while (!open.empty() && runs[open.back()].end_ns <= run.start_ns) {
            ended = open.back();
            open.pop_back();
        }
        const bool follows =
            ended != runs.size() && (runs[ended].end_ns == run.start_ns ||
                                     (run.resumer != none && runs[ended].task == run.resumer));
        if (run.executor == none && follows) run.executor = runs[ended].executor;
        if (run.executor == none && !open.empty()) run.executor = runs[open.back()].executor;
        open.push_back(at);
    }
}

}  // namespace

std::vector<queued_job> find_queued_jobs(const trace& loaded) {
    std::vector<queued_job> found;
    for (const task_info& task : loaded.tasks) {
        add_first_job(loaded, task, found);
        add_woken_jobs(loaded, task, found);
    }
    return found;
}

std::vector<executor_run> find_executor_runs(const trace& loaded) {
    std::vector<executor_run> runs;
    runs.reserve(loaded.slices.size());
    for (std::uint32_t task = 0; task < loaded.tasks.size(); ++task)
        run_finder(loaded, task, runs).find();
    std::ranges::sort(runs, {}, [](const executor_run& run) {
        return std::tuple(run.thread, run.start_ns, -run.end_ns, run.first_slice);
    });
    inherit_executors(runs);
    return runs;
}

}  // namespace coroscope::analysis::inline executor_answers
