// SPDX-License-Identifier: Apache-2.0
#include "executor_threads.hpp"

#include <algorithm>
#include <utility>

#include "executor_runs.hpp"

namespace coroscope::analysis::inline executor_answers {
namespace {

void serve(std::vector<serving_thread>& threads, const serving_thread& added) {
    const auto found = std::ranges::find(threads, added.thread, &serving_thread::thread);
    if (found == threads.end()) {
        threads.push_back(added);
        return;
    }
    found->from_ns = std::min(found->from_ns, added.from_ns);
    found->to_ns = std::max(found->to_ns, added.to_ns);
}

bool is_strand(const executor_info& executor) {
    return executor.kind == coroscope::trace::executor_kind::strand;
}

}  // namespace

executor_threads::executor_threads(const trace& loaded)
    : threads_(loaded.executors.size()), jobs_(loaded.executors.size()) {
    if (loaded.executors.empty()) return;
    for (const executor_run& run : find_executor_runs(loaded)) {
        if (run.executor == none || run.thread >= loaded.threads.size()) continue;
        serve(threads_[run.executor], {run.thread, run.start_ns, run.end_ns});
        if (is_strand(loaded.executors[run.executor]))
            jobs_[run.executor].push_back({run.start_ns, run.end_ns, run.thread});
    }
    for (std::vector<strand_run>& jobs : jobs_)
        std::ranges::stable_sort(jobs, {}, [](const strand_run& each) {
            return std::pair(each.from_ns, each.to_ns);  // a job may end at once
        });
    const std::vector<std::vector<serving_thread>> own = threads_;
    for (std::uint32_t at = 0; at < threads_.size(); ++at) {
        const std::uint32_t inner = loaded.executors[at].inner;
        if (inner >= own.size() || inner == at) continue;
        for (const serving_thread& each : own[inner]) serve(threads_[at], each);
    }
}

std::span<const serving_thread> executor_threads::of(std::uint32_t executor) const {
    if (executor >= threads_.size()) return {};
    return threads_[executor];
}

std::span<const strand_run> executor_threads::jobs_of_strand(std::uint32_t executor) const {
    if (executor >= jobs_.size()) return {};
    return jobs_[executor];
}

}  // namespace coroscope::analysis::inline executor_answers
