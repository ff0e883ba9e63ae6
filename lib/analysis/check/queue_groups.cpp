// SPDX-License-Identifier: Apache-2.0
#include "queue_groups.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <tuple>

#include "../executors/executor_threads.hpp"
#include "../model/missing_facts.hpp"
#include "../model/task_slices.hpp"
#include "../path/blocked_calls.hpp"

namespace coroscope::analysis::inline checks {
namespace {

// A run is long if it keeps its thread for a millisecond, which is longer than the kernel takes to
// wake a thread, and for four times as long as the jobs behind it, so that their order matters.
constexpr std::int64_t long_run_ns = 1'000'000;
constexpr std::int64_t long_run_times = 4;
// So many jobs of another kind ahead of a job are a backlog, not one slow job.
constexpr std::uint64_t backlog_jobs = 4;

// A background task pauses others periodically if it has so many long runs, and four of five of the
// times between them differ from the middle one by less than three tenths.
constexpr std::size_t fewest_periods = 5;
constexpr std::int64_t period_tolerance_percent = 30;

using group_key = std::pair<std::uint32_t, std::uint32_t>;  // executor, kind of job

std::uint32_t longest_slice(const trace& loaded, const queue_delay& delay) {
    if (delay.blocker >= loaded.tasks.size()) return none;
    const index_range& own = loaded.tasks[delay.blocker].slices;
    const auto last = latest_slice_index(loaded, delay.blocker, delay.to_ns - 1);
    if (!last) return none;
    std::uint32_t found = none;
    std::int64_t longest_ns = 0;
    for (std::uint32_t at = *last; at >= own.front(); --at) {
        const slice run = loaded.slices[at];
        if (run.end_ns <= delay.from_ns) break;
        const std::int64_t overlap_ns =
            std::min(run.end_ns, delay.to_ns) - std::max(run.start_ns, delay.from_ns);
        if (run.thread == delay.thread && overlap_ns > longest_ns) {
            longest_ns = overlap_ns;
            found = at;
        }
        if (at == 0) break;
    }
    return found;
}

std::int64_t middle_of(std::vector<std::int64_t> numbers) {
    if (numbers.empty()) return 0;
    const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
    std::ranges::nth_element(numbers, middle);
    return *middle;
}

class group_builder {
public:
    explicit group_builder(check_input& input)
        : input_(input), loaded_(input.loaded()), threads_(loaded_), calls_(loaded_) {}

    std::vector<queue_group> build() {
        for (const queue_delay& each : input_.queue_delays())
            if (!each.is_unproven) add(each);
        std::vector<queue_group> made;
        for (auto& [key, group] : groups_) {
            std::tie(group.executor, group.kind) = key;
            group.threads = static_cast<std::uint32_t>(threads_.of(group.executor).size());
            find_period(group);
            made.push_back(std::move(group));
        }
        std::ranges::stable_sort(made, std::ranges::greater(),
                                 [](const queue_group& each) { return each.victims.time_ns(); });
        return made;
    }

private:
    void add(const queue_delay& delay) {
        const std::uint32_t kind = input_.kind_of(delay.blocker);
        queue_group& group = groups_[{delay.executor, kind}];
        const std::uint32_t run = longest_slice(loaded_, delay);
        const finding_place place = input_.work_at(delay.blocker, delay.scope);
        group.victims.add(input_, delay.request, delay.time_ns);
        group.causes.add(place, delay.time_ns);
        group.tasks.insert(delay.blocker);
        if (input_.may_be_of_one_kind(delay.blocker, delay.victim))
            add_to(group.same_ns, delay.time_ns);
        add_wait(group, delay);
        finding_evidence moment{.text = "kept the thread",
                                .place = place,
                                .task = delay.blocker,
                                .thread = delay.thread,
                                .request = input_.requests()[delay.request].info.id,
                                .start_ns = delay.from_ns,
                                .length_ns = delay.time_ns};
        std::int64_t run_ns = delay.time_ns;
        if (run != none) run_ns = add_run(group, run, moment);
        group.weighted_run_ns += run_ns / 1000 * (delay.time_ns / 1000);
    }

    // Returns the length of the run without the time in which it had no processor.
    std::int64_t add_run(queue_group& group, std::uint32_t run, finding_evidence& moment) {
        const slice& of = loaded_.slices[run];
        const state_times states = loaded_.states.between(of.thread, of.start_ns, of.end_ns);
        const std::int64_t run_ns = of.end_ns - of.start_ns - states.preempted_ns;
        if (group.runs.insert(run).second) {
            group.states.add(states);
            add_to(group.other_calls_ns, calls_.without_lock(of.thread, of.start_ns, of.end_ns));
            group.longest_run_ns = std::max(group.longest_run_ns, run_ns);
            group.long_runs += run_ns >= long_run_ns ? 1 : 0;
            moment.start_ns = of.start_ns;
            moment.length_ns = of.end_ns - of.start_ns;
            group.evidence.add(moment);
        }
        return run_ns;
    }

    void add_wait(queue_group& group, const queue_delay& delay) {
        ++group.blockers;
        const auto wait = std::tuple(&group, delay.victim, delay.from_ns);
        if (!waits_.insert(wait).second) return;
        ++group.waits;
        const std::optional<slice> own = latest_slice(loaded_, delay.victim, delay.to_ns);
        if (own && own->start_ns >= delay.to_ns)
            group.own_runs.push_back(own->end_ns - own->start_ns);
    }

    // A period is that of one task which is no request and which timers wake.
    void find_period(queue_group& group) const {
        const std::uint32_t task = *group.tasks.begin();
        if (group.tasks.size() != 1 || task >= loaded_.tasks.size() || is_request(task)) return;
        const std::int64_t least_ns = std::max(group.longest_run_ns / 4, long_run_ns);
        std::vector<std::int64_t> starts;
        for (const std::uint32_t at : loaded_.tasks[task].slices) {
            const slice& run = loaded_.slices[at];
            if (run.end_ns - run.start_ns >= least_ns) starts.push_back(run.start_ns);
        }
        if (starts.size() < fewest_periods || !is_woken_by_timers(task)) return;
        std::vector<std::int64_t> gaps;
        for (std::size_t at = 1; at < starts.size(); ++at)
            gaps.push_back(starts[at] - starts[at - 1]);
        const std::int64_t period_ns = middle_of(gaps);
        const auto regular = std::ranges::count_if(gaps, [&](std::int64_t gap) {
            return std::abs(gap - period_ns) * 100 <= period_ns * period_tolerance_percent;
        });
        if (regular * 5 < static_cast<std::ptrdiff_t>(gaps.size()) * 4) return;
        group.period_ns = period_ns;
        group.periods = starts.size();
    }

    [[nodiscard]] bool is_request(std::uint32_t task) const {
        return std::ranges::any_of(
            input_.requests(), [&](const checked_request& each) { return each.info.task == task; });
    }

    [[nodiscard]] bool is_woken_by_timers(std::uint32_t task) const {
        std::size_t timers = 0;
        const index_range& own = loaded_.tasks[task].awaits;
        for (const std::uint32_t at : own)
            timers += loaded_.awaits[at].reason == wake_reason::timer ? 1 : 0;
        return timers * 2 > own.size();
    }

    check_input& input_;
    const trace& loaded_;
    executor_threads threads_;
    blocked_calls calls_;
    std::map<group_key, queue_group> groups_;
    std::set<std::tuple<queue_group*, std::uint32_t, std::int64_t>> waits_;
};

// The sums of one executor.
struct executor_sums {
    std::int64_t ran_ns = 0;       // queued time behind known work
    std::int64_t own_ns = 0;       // the runs of the delayed jobs
    std::int64_t unproven_ns = 0;  // queued time behind work that may have had no processor
};

class judge {
public:
    judge(const check_input& input, const std::vector<queue_group>& groups) : input_(input) {
        for (const queue_group& each : groups) {
            executor_sums& sums = sums_[each.executor];
            add_to(sums.ran_ns, each.victims.time_ns());
            for (const std::int64_t run_ns : each.own_runs) add_to(sums.own_ns, run_ns);
        }
        for (const queue_delay& each : input.queue_delays())
            if (each.is_unproven) add_to(sums_[each.executor].unproven_ns, each.time_ns);
    }

    [[nodiscard]] queue_fault fault_of(const queue_group& group) const {
        if (!input_.is_worth(group.victims.time_ns(), least_share)) return queue_fault::none;
        const bool is_same = group.same_ns > group.victims.time_ns() / 2;
        if (is_strand(group))
            return is_long(group) || is_crowded(group) ? queue_fault::hot_strand
                                                       : queue_fault::none;
        const bool is_event_loop = group.threads <= 1 || is_context(group);
        if (is_same && !is_long(group)) {
            if (is_context(group) && group.is_blocked() && typical_run_ns(group) >= long_run_ns)
                return queue_fault::blocking_call;
            return is_crowded(group) ? queue_fault::executor_too_small : queue_fault::none;
        }
        if (!is_same && group.blockers >= backlog_jobs * group.waits && is_crowded(group))
            return queue_fault::priority_inversion;
        if (is_long(group)) {
            if (group.period_ns != 0) return queue_fault::periodic_pauses;
            if (!is_event_loop) return queue_fault::head_of_line;
            return group.is_blocked() ? queue_fault::blocking_call : queue_fault::long_computation;
        }
        return is_crowded(group) ? queue_fault::executor_too_small : queue_fault::none;
    }

private:
    [[nodiscard]] coroscope::trace::executor_kind kind_of(const queue_group& group) const {
        const auto& all = input_.loaded().executors;
        return group.executor < all.size() ? all[group.executor].kind
                                           : coroscope::trace::executor_kind::other;
    }

    [[nodiscard]] bool is_strand(const queue_group& group) const {
        return kind_of(group) == coroscope::trace::executor_kind::strand;
    }

    // An event loop, also with several threads: a thread that blocks there delays all events.
    [[nodiscard]] bool is_context(const queue_group& group) const {
        using coroscope::trace::executor_kind;
        const executor_kind kind = kind_of(group);
        return kind == executor_kind::context || kind == executor_kind::io_context ||
               kind == executor_kind::fibers;
    }

    // The mean length of the runs, each weighted by the time behind it.
    static std::int64_t typical_run_ns(const queue_group& group) {
        const std::int64_t time_us = group.victims.time_ns() / 1000;
        return time_us > 0 ? group.weighted_run_ns / time_us * 1000 : 0;
    }

    static bool is_long(const queue_group& group) {
        const std::int64_t run_ns = typical_run_ns(group);
        return run_ns >= long_run_ns && run_ns >= long_run_times * middle_of(group.own_runs);
    }

    // Jobs wait longer behind other jobs than they run, and these jobs explain at least a third of
    // their queue; for the rest threads had no task or no processor, or facts are missing.
    [[nodiscard]] bool is_crowded(const queue_group& group) const {
        const executor_sums& sums = sums_.at(group.executor);
        return sums.ran_ns >= sums.own_ns &&
               2 * sums.ran_ns >=
                   saturated_sum(input_.stalled_of(group.executor).total_ns(), sums.unproven_ns);
    }

    const check_input& input_;
    std::map<std::uint32_t, executor_sums> sums_;
};

// While some work keeps an executor, the jobs behind it gather, and then wait for each other, too.
// That shows neither that the executor is too small, nor that short jobs keep a strand busy. So
// only the work with the largest time may.
void drop_gathered_jobs(std::vector<queue_group>& groups) {
    std::set<std::uint32_t> explained;
    for (queue_group& each : groups) {
        if (each.fault == queue_fault::none || each.executor == none) continue;
        const bool is_first = explained.insert(each.executor).second;
        const bool is_of_short_jobs =
            each.fault == queue_fault::executor_too_small ||
            (each.fault == queue_fault::hot_strand && each.long_runs == 0);
        if (!is_first && is_of_short_jobs) each.fault = queue_fault::none;
    }
}

// Blocked jobs may have waited for a lock whose holder is the cause. If records are lost, so may
// be those of the holder.
bool may_lack_holder(const trace& loaded, const queue_group& group) {
    return may_lack_work(loaded) && group.may_wait_for_lock();
}

}  // namespace

std::vector<queue_group> queue_groups_of(check_input& input) {
    std::vector<queue_group> groups = group_builder(input).build();
    const judge of(input, groups);
    for (queue_group& each : groups)
        if (!may_lack_holder(input.loaded(), each)) each.fault = of.fault_of(each);
    drop_gathered_jobs(groups);
    return groups;
}

}  // namespace coroscope::analysis::inline checks
