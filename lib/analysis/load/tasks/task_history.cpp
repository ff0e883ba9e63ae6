// SPDX-License-Identifier: Apache-2.0
#include "task_history.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "../../model/task_slices.hpp"
#include "first_runs.hpp"
#include "hand_overs.hpp"
#include "known_span.hpp"
#include "life_walk.hpp"
#include "merged_runs.hpp"
#include "task_life.hpp"

namespace coroscope::analysis::inline tasks {

using coroscope::trace::record_kind;

namespace {

// Numbers grouped by task, by a counting sort that keeps their order.
class numbers_of_tasks {
public:
    explicit numbers_of_tasks(std::size_t tasks) : first_(tasks + 2) {}

    // Must be called for every number before the first place().
    void count(std::uint32_t task) { ++first_[task + 2]; }
    void end_count() {
        for (std::size_t at = 2; at < first_.size(); ++at) first_[at] += first_[at - 1];
        numbers_.resize(first_.back());
    }
    // Must be called for every number, in order.
    void place(std::uint32_t task, std::uint32_t number) { numbers_[first_[task + 1]++] = number; }

    // Must be called after the last place().
    [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t task) const {
        return std::span(numbers_).subspan(first_[task], first_[task + 1] - first_[task]);
    }

private:
    std::vector<std::uint32_t> first_;  // after the last place(), by task, and one for the end
    std::vector<std::uint32_t> numbers_;
};

template <class Visitor>
void visit_mentions(const growing_list<task_op>& all, std::size_t tasks, Visitor visit) {
    all.for_each([&](const task_op& record, std::size_t op) {
        if (record.kind == record_kind::none && record.value != 0) return;
        const auto number = static_cast<std::uint32_t>(op);
        if (record.task < tasks) visit(record.task, number);
        const bool names_two = record.kind == record_kind::transfer ||
                               record.kind == record_kind::finish_transfer ||
                               record.kind == record_kind::awaiting;
        if (names_two && record.other < tasks && record.other != record.task)
            visit(record.other, number);
    });
}

// The records that name each task.
numbers_of_tasks find_mentions(const growing_list<task_op>& all, std::size_t tasks) {
    numbers_of_tasks found(tasks);
    visit_mentions(all, tasks, [&](std::uint32_t task, std::uint32_t) { found.count(task); });
    found.end_count();
    visit_mentions(all, tasks,
                   [&](std::uint32_t task, std::uint32_t op) { found.place(task, op); });
    return found;
}

// The slices of each task: numbers that count through all timelines.
class slices_of_tasks {
public:
    slices_of_tasks(const std::vector<timeline>& timelines, std::uint32_t tasks)
        : timelines_(timelines), of_tasks_(tasks) {
        visit(tasks, [&](std::uint32_t task, std::uint32_t) { of_tasks_.count(task); });
        of_tasks_.end_count();
        visit(tasks,
              [&](std::uint32_t task, std::uint32_t number) { of_tasks_.place(task, number); });
    }

    [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t task) const {
        return of_tasks_.of(task);
    }

    // Returns whether each begins after the one before it.
    [[nodiscard]] bool are_in_order(std::span<const std::uint32_t> numbers) {
        for (std::size_t at = 1; at < numbers.size(); ++at)
            if ((*this)[numbers[at]].run.start_ns <= (*this)[numbers[at - 1]].run.start_ns)
                return false;
        return true;
    }

    // Fastest if numbers ascend.
    [[gnu::always_inline]] [[nodiscard]] inline owned_slice operator[](std::uint32_t number) {
        if (number < first_ || number - first_ >= timelines_[at_].slices.size()) select(number);
        return timelines_[at_].slices[number - first_];
    }

private:
    template <class Visitor>
    void visit(std::uint32_t tasks, Visitor visitor) {
        std::uint32_t first = 0;
        for (const timeline& line : timelines_) {
            line.slices.for_each([&](const owned_slice& ended, std::size_t at) {
                if (ended.run.task < tasks && !ended.unseen)
                    visitor(ended.run.task, first + static_cast<std::uint32_t>(at));
            });
            first += static_cast<std::uint32_t>(line.slices.size());
        }
    }

    void select(std::uint32_t number) {
        if (number < first_) at_ = first_ = 0;
        for (; number - first_ >= timelines_[at_].slices.size(); ++at_)
            first_ += static_cast<std::uint32_t>(timelines_[at_].slices.size());
    }

    const std::vector<timeline>& timelines_;
    numbers_of_tasks of_tasks_;
    std::size_t at_ = 0;  // a timeline, and the number of its first slice
    std::uint32_t first_ = 0;
};

constexpr std::uint32_t kept_slices = 4;  // the state of a walk is kept before every fourth slice

}  // namespace

/// Divides each task's wall time.
class history_builder {
public:
    history_builder(task_histories& built, trace& loaded, std::uint32_t tasks)
        : built_(built), loaded_(loaded), tasks_(tasks) {}

    void take_lives(const task_records& records, std::vector<timeline>& timelines) {
        const numbers_of_tasks mentions = find_mentions(records.ops, tasks_);
        hand_over_list hand_overs(timelines, tasks_);
        slices_of_tasks slices(timelines, tasks_);
        started_by_.assign(tasks_, none);
        life_builder life(records, loaded_, lost_any(loaded_), built_.known_);
        built_.destroyed_on_.assign(tasks_, none);
        packed_list<task_info> lived;
        for (std::uint32_t task = 0; task < tasks_; ++task) {
            task_info info = std::as_const(loaded_).tasks[task];
            info.losses |= task < records.lost_of.size() && records.lost_of[task];
            const auto first_await = static_cast<std::uint32_t>(loaded_.awaits.size());
            life.run(task, info, mentions.of(task));
            hand_overs.add_awaits(task, info, first_await, loaded_);
            built_.destroyed_on_[task] = life.destroyed_on();
            started_by_[task] = life.started_by();
            const auto awaits = static_cast<std::uint32_t>(loaded_.awaits.size());
            info.awaits = index_range(first_await, awaits - first_await);
            take_slices(info, slices.of(task), slices);
            divide(info, records.has_scopes());
            lived.append(info);
        }
        loaded_.tasks = std::move(lived);
        for (timeline& line : timelines) line.slices.clear();
    }

    // Precondition: the slices and awaits have been filled in.
    void name_awaited() { built_.presumed_ = name_awaited_tasks(started_by_, loaded_); }

private:
    // If a task goes on on another thread before its thread has left it, its slice ends at that
    // time. In guessed slices before the guessed ones at the end, all on one thread, the task did
    // not run: it was in its await_suspend.
    void take_slices(task_info& task, std::span<const std::uint32_t> numbers,
                     slices_of_tasks& slices) {
        const auto first = static_cast<std::uint32_t>(loaded_.slices.size());
        const std::int64_t last_ns = task.end_ns.value_or(loaded_.duration_ns);
        guessed_.clear();
        owned_slice latest;
        bool any = false;
        const auto take = [&](const owned_slice& next) {
            if (any) end_slice(latest, std::min(last_ns, next.run.start_ns));
            latest = next;
            any = true;
        };
        if (slices.are_in_order(numbers)) {
            for (const std::uint32_t number : numbers) take(slices[number]);
        } else {
            visit_in_order(
                static_cast<std::uint32_t>(numbers.size()),
                [&](std::uint32_t at) { return slices[numbers[at]]; },
                [](const owned_slice& left, const owned_slice& right) {
                    return std::tie(left.run.start_ns, left.run.end_ns, left.run.thread) <
                           std::tie(right.run.start_ns, right.run.end_ns, right.run.thread);
                },
                take);
        }
        if (any) end_slice(latest, last_ns);
        keep_guessed();
        const auto end = static_cast<std::uint32_t>(loaded_.slices.size());
        task.slices = index_range(first, end - first);
    }

    void end_slice(owned_slice& ended, std::int64_t last_ns) {
        slice& run = ended.run;
        run.end_ns = std::max(std::min(run.end_ns, last_ns), run.start_ns);
        if (ended.guessed) {
            guessed_.push_back(ended);
        } else {
            guessed_.clear();
            keep(ended);
        }
    }

    void keep_guessed() {
        std::size_t first = guessed_.size();
        while (first > 0 && guessed_[first - 1].run.thread == guessed_.back().run.thread) --first;
        for (; first < guessed_.size(); ++first) keep(guessed_[first]);
    }

    void keep(const owned_slice& ended) {
        const std::int64_t length_ns = ended.run.end_ns - ended.run.start_ns;
        loaded_.slices.append(ended.run);
        built_.nested_.append({length_ns - std::min(ended.own_ns, length_ns)});
    }

    void divide(task_info& task, bool keeps_states) {
        const packed_list<slice>& slices = loaded_.slices;
        if (!task.slices.empty()) {
            const std::int64_t start_ns = slices[task.slices.front()].start_ns;
            task.first_wake_ns = std::min(task.first_wake_ns.value_or(start_ns), start_ns);
        }
        if (!task.first_wake_ns) return;
        bool is_queued = !task.older_than_session;
        if (is_queued && may_have_run(loaded_, built_.known_, task)) {
            is_queued = false;
            task.losses = true;
        }
        life_walk walk(loaded_, built_.nested_, task, is_queued);
        const std::uint32_t first = task.slices.empty() ? 0 : task.slices.front();
        walk.to_end([&](const life_state& state) {
            const std::uint32_t past = state.next_slice - first;
            if (keeps_states && past != 0 && past % kept_slices == 0) built_.kept_.append(state);
        });
        const life_state& sums = walk.state();
        task.time = {sums.running_ns, sums.suspended_ns, sums.queued_ns,
                     walk.end_ns() - *task.first_wake_ns - sums.running_ns - sums.suspended_ns -
                         sums.queued_ns};
        if (task.spawn_ns && !task.older_than_session)
            task.spawn_to_wake_ns = std::max<std::int64_t>(0, *task.first_wake_ns - *task.spawn_ns);
    }

    task_histories& built_;
    trace& loaded_;
    std::uint32_t tasks_;
    std::vector<std::uint32_t> started_by_;  // by task
    std::vector<owned_slice> guessed_;       // of one task: the last ones so far, all guessed
};

task_histories::task_histories(const task_records& records, std::vector<timeline>& timelines,
                               trace& loaded)
    : loaded_(loaded), known_(find_known_span(records, loaded)), timelines_(loaded.threads.size()) {
    for (std::size_t stream = 0; stream < timelines.size(); ++stream)
        timelines_[records.streams[stream].thread] = &timelines[stream];
    const std::uint32_t tasks =
        std::min(records.first_folded, static_cast<std::uint32_t>(loaded.tasks.size()));
    history_builder builder(*this, loaded, tasks);
    builder.take_lives(records, timelines);
    builder.name_awaited();
}

// Returns the own time of the slice up to `time_ns`: all of the time unless other slices were
// nested in it.
std::int64_t task_histories::own_within(const slice& run, std::int64_t length_ns,
                                        std::int64_t own_ns, std::int64_t time_ns) const {
    const timeline* line = timelines_[run.thread];
    if (own_ns == length_ns || line == nullptr) return std::min(own_ns, time_ns - run.start_ns);
    const std::int64_t begun_ns =
        line->own_between(run.task, run.start_ns, time_ns, line->switches.size() - 1);
    return std::min(begun_ns, own_ns);
}

// Returns the last state that was kept before `time_ns` in the task's life, if one was.
std::optional<life_state> task_histories::kept_before(const task_info& task,
                                                      std::int64_t time_ns) const {
    if (task.slices.size() <= kept_slices) return std::nullopt;
    std::size_t first = 0, end = kept_.size();
    while (first < end) {
        const std::size_t middle = (first + end) / 2;
        const std::uint32_t next_slice = kept_[middle].next_slice;
        if (next_slice <= task.slices.front() ||
            (next_slice <= task.slices.back() && kept_[middle].now_ns <= time_ns))
            first = middle + 1;
        else
            end = middle;
    }
    if (first == 0 || kept_[first - 1].next_slice <= task.slices.front()) return std::nullopt;
    return kept_[first - 1];
}

task_histories::sums task_histories::until(std::uint32_t number, std::int64_t time_ns) const {
    const task_info task = loaded_.tasks[number];
    if (!task.first_wake_ns || time_ns < *task.first_wake_ns) return {};
    const bool is_queued = !task.older_than_session && !may_have_run(loaded_, known_, task);
    std::optional<life_walk> walk(std::in_place, loaded_, nested_, task, is_queued);
    const std::optional<life_state> kept = kept_before(task, time_ns);
    if (kept) walk->go_on_from(*kept);
    if (!walk->to_part_at(time_ns)) {
        if (!kept) return {};
        walk.emplace(loaded_, nested_, task, is_queued);
        if (!walk->to_part_at(time_ns)) return {};
    }
    const life_state& before = walk->state();
    const life_walk::part& here = walk->last_part();
    const std::int64_t length_ns =
        std::max<std::int64_t>(0, std::min(time_ns, here.end_ns) - before.now_ns);
    sums found{before.running_ns, before.suspended_ns, before.queued_ns, before.own_ns};
    if (here.kind == life_part_kind::suspended) found.suspended_ns += length_ns;
    if (here.kind == life_part_kind::queued) found.queued_ns += length_ns;
    if (here.kind == life_part_kind::running) {
        const slice run = loaded_.slices[here.slice];
        found.running_ns += length_ns;
        found.own_ns +=
            own_within(run, here.end_ns - before.now_ns,
                       life_walk::own_of(run, nested_[here.slice]), before.now_ns + length_ns);
    }
    return found;
}

owned_split task_histories::between(std::uint32_t task, std::int64_t from_ns,
                                    std::int64_t to_ns) const {
    const sums before = until(task, from_ns);
    const sums after = until(task, to_ns);
    owned_split split;
    split.time = {after.running_ns - before.running_ns, after.suspended_ns - before.suspended_ns,
                  after.queued_ns - before.queued_ns, 0};
    split.time.waiting_ns = std::max<std::int64_t>(0, to_ns - from_ns - split.time.wall_ns());
    split.own_ns = std::max<std::int64_t>(0, after.own_ns - before.own_ns);
    return split;
}

bool task_histories::runs_at(std::uint32_t task, std::int64_t time_ns) const {
    const std::optional<slice> latest = latest_slice(loaded_, task, time_ns);
    return latest && time_ns <= latest->end_ns;
}

}  // namespace coroscope::analysis::inline tasks
