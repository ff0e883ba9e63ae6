// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/executor_statistics.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "../answer/time_spans.hpp"
#include "executor_occupants.hpp"
#include "executor_queues.hpp"
#include "executor_runs.hpp"

namespace coroscope::analysis {
namespace {

struct occupied_threads {
    std::map<std::uint32_t, time_spans> by_thread;
};

/// Computes the figures of all executors.
class executor_summary {
public:
    explicit executor_summary(const trace& loaded)
        : loaded_(loaded),
          runs_(find_executor_runs(loaded)),
          statistics_(loaded.executors.size()),
          occupied_(loaded.executors.size()),
          queued_(loaded.executors.size()),
          first_ns_(loaded.executors.size(), INT64_MAX),
          last_ns_(loaded.executors.size(), INT64_MIN),
          busy_measures_(loaded.executors.size()) {}

    std::vector<executor_statistics> take() {
        take_runs();
        take_queued();
        const std::vector<executor_occupant> occupants = find_occupants(loaded_, runs_);
        std::vector<executor_statistics> found;
        for (std::uint32_t at = 0; at < statistics_.size(); ++at) {
            executor_statistics& each = statistics_[at];
            if (each.jobs == 0 && queued_[at].empty()) continue;
            finish(at, occupants[at]);
            found.push_back(std::move(each));
        }
        std::ranges::stable_sort(found, std::ranges::greater(), [](const auto& each) {
            return std::tuple(each.queued_while_busy_ns, each.queued_ns, each.busy_ns);
        });
        return found;
    }

private:
    void take_runs() {
        for (const executor_run& run : runs_) {
            append_span(busy_[run.thread], {run.start_ns, run.end_ns});
            if (run.executor == none) continue;
            executor_statistics& of = statistics_[run.executor];
            of.jobs += run.is_job ? 1 : 0;
            see(run.executor, run.start_ns, run.end_ns);
            append_span(occupied_[run.executor].by_thread[run.thread], {run.start_ns, run.end_ns});
        }
        if (loaded_.states.any())
            for (auto& [thread, spans] : busy_) spans = without_preempted(thread, spans);
    }

    void take_queued() {
        for (const queued_job& each : find_queued_jobs(loaded_)) {
            queued_[each.executor].push_back(each);
            see(each.executor, each.from_ns, each.to_ns);
        }
    }

    void see(std::uint32_t executor, std::int64_t from_ns, std::int64_t to_ns) {
        first_ns_[executor] = std::min(first_ns_[executor], from_ns);
        last_ns_[executor] = std::max(last_ns_[executor], to_ns);
    }

    [[nodiscard]] time_spans without_preempted(std::uint32_t thread,
                                               const time_spans& spans) const {
        time_spans left;
        for (const time_span& each : spans)
            for (const state_stretch& stretch :
                 loaded_.states.stretches(thread, each.from_ns, each.to_ns))
                if (stretch.state != thread_state::preempted)
                    append_span(left, {stretch.start_ns, stretch.end_ns});
        return left;
    }

    void finish(std::uint32_t at, const executor_occupant& occupant) {
        executor_statistics& of = statistics_[at];
        of.executor = at;
        of.occupant = occupant;
        of.span_ns = last_ns_[at] - first_ns_[at];
        for (const auto& [thread, spans] : occupied_[at].by_thread) {
            of.threads.push_back(thread);
            add_busy(of, thread, spans);
        }
        measure_queue(steps_of(queued_[at]), of);
        add_queued(of, at);
    }

    void add_busy(executor_statistics& to, std::uint32_t thread, const time_spans& spans) const {
        std::size_t near = 0;
        for (const time_span& each : spans) {
            add_to(to.busy_ns, each.to_ns - each.from_ns);
            if (loaded_.states.any())
                to.states.add(loaded_.states.between(thread, each.from_ns, each.to_ns, near));
            else
                add_to(to.states.unknown_ns, each.to_ns - each.from_ns);
        }
    }

    void add_queued(executor_statistics& to, std::uint32_t at) {
        const span_measure& busy = busy_measure(at);
        std::vector<std::int64_t> lengths_ns;
        for (const queued_job& each : queued_[at]) {
            add_to(to.queued_ns, each.to_ns - each.from_ns);
            add_to(to.queued_while_busy_ns, busy.within(each.from_ns, each.to_ns));
            if (each.ran)
                lengths_ns.push_back(each.to_ns - each.from_ns);
            else if (each.to_ns >= loaded_.duration_ns)
                ++to.waiting;
        }
        to.queued = percentiles_of(lengths_ns);
    }

    /// The moments at which the executor had no thread for another job.
    const span_measure& busy_measure(std::uint32_t at) {
        std::optional<span_measure>& known = busy_measures_[at];
        if (!known) known.emplace(busy_spans(at));
        return *known;
    }

    time_spans busy_spans(std::uint32_t at) {
        if (loaded_.executors[at].kind != coroscope::trace::executor_kind::strand)
            return all_busy(at);
        time_spans spans;
        for (const auto& [thread, occupied] : occupied_[at].by_thread)
            spans.insert(spans.end(), occupied.begin(), occupied.end());
        const std::uint32_t inner = loaded_.executors[at].inner;
        if (inner < statistics_.size() && inner != at) {
            if (!inner_spans_.contains(inner)) inner_spans_[inner] = all_busy(inner);
            const time_spans& below = inner_spans_[inner];
            spans.insert(spans.end(), below.begin(), below.end());
        }
        return united(std::move(spans));
    }

    /// The moments at which each thread that ran its jobs was busy.
    [[nodiscard]] time_spans all_busy(std::uint32_t at) const {
        std::vector<const time_spans*> sets;
        for (const auto& [thread, occupied] : occupied_[at].by_thread)
            sets.push_back(&busy_.at(thread));
        return common(sets);
    }

    const trace& loaded_;
    std::vector<executor_run> runs_;
    std::vector<executor_statistics> statistics_;  // this and the next by index of the executor
    std::vector<occupied_threads> occupied_;
    std::vector<std::vector<queued_job>> queued_;
    std::vector<std::int64_t> first_ns_;
    std::vector<std::int64_t> last_ns_;
    std::vector<std::optional<span_measure>> busy_measures_;
    std::map<std::uint32_t, time_spans> inner_spans_;
    std::map<std::uint32_t, time_spans> busy_;  // by thread: it ran a task
};

// An executor with less than this share of all queued time is not saturated: a burst of a few jobs
// in a long session does not call for more threads.
constexpr double least_queued_share = 0.01;

void set_queued_shares(std::vector<executor_statistics>& all) {
    double queued_ns = 0;
    for (const executor_statistics& each : all) queued_ns += static_cast<double>(each.queued_ns);
    for (executor_statistics& each : all)
        if (each.queued_ns > 0) each.queued_share = static_cast<double>(each.queued_ns) / queued_ns;
}

}  // namespace

bool is_saturated(const executor_statistics& executor) {
    return executor.queued_share >= least_queued_share && executor.mean_length_hundredths >= 100 &&
           executor.queued_ns > executor.busy_ns &&
           executor.queued_while_busy_ns > executor.queued_ns / 2;
}

std::vector<executor_statistics> statistics_of_executors(const trace& loaded) {
    if (loaded.executors.empty()) return {};
    std::vector<executor_statistics> all = executor_summary(loaded).take();
    set_queued_shares(all);
    return all;
}

}  // namespace coroscope::analysis
