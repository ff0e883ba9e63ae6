// SPDX-License-Identifier: Apache-2.0
#include "task_history.hpp"

#include <algorithm>
#include <tuple>

#include "first_runs.hpp"
#include "known_span.hpp"
#include "task_life.hpp"
#include "task_slices.hpp"

namespace coroscope::analysis::loading {

using coroscope::trace::record_kind;

namespace {

// Which records name each task, grouped by task: a counting sort that keeps the order of records.
struct task_mentions {
    std::vector<std::uint32_t> first;  // by task, and one more for the end
    std::vector<std::uint32_t> ops;

    task_mentions(std::span<const task_op> all, std::size_t tasks) : first(tasks + 1) {
        for_each(all, tasks, [this](std::uint32_t task, std::uint32_t) { ++first[task + 1]; });
        for (std::size_t task = 0; task < tasks; ++task) first[task + 1] += first[task];
        ops.resize(first[tasks]);
        std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
        for_each(all, tasks, [&](std::uint32_t task, std::uint32_t op) { ops[next[task]++] = op; });
    }

private:
    template <class Visitor>
    static void for_each(std::span<const task_op> all, std::size_t tasks, Visitor visit) {
        for (std::uint32_t op = 0; op < all.size(); ++op) {
            const task_op& record = all[op];
            if (record.kind == record_kind::none && record.value != 0) continue;
            if (record.task < tasks) visit(record.task, op);
            const bool names_two = record.kind == record_kind::transfer ||
                                   record.kind == record_kind::finish_transfer ||
                                   record.kind == record_kind::awaiting;
            if (names_two && record.other < tasks && record.other != record.task)
                visit(record.other, op);
        }
    }
};

}  // namespace

/// Divides each task's wall time.
class history_builder {
public:
    history_builder(task_histories& built, trace& loaded, const known_span& known)
        : built_(built), loaded_(loaded), known_(known) {}

    void take_lives(const task_records& records, std::uint32_t tasks) {
        const task_mentions mentions(records.ops, tasks);
        life_builder life(loaded_, lost_any(loaded_), known_);
        built_.destroyed_on_.assign(tasks, none);
        for (std::uint32_t task = 0; task < tasks; ++task) {
            const auto first_await = static_cast<std::uint32_t>(loaded_.awaits.size());
            life.begin(task);
            for (std::uint32_t at = mentions.first[task]; at < mentions.first[task + 1]; ++at) {
                const task_op& op = records.ops[mentions.ops[at]];
                life.add(op, mentions.ops[at], op.task != task);
            }
            life.finish();
            built_.destroyed_on_[task] = life.destroyed_on();
            const auto awaits = static_cast<std::uint32_t>(loaded_.awaits.size());
            loaded_.tasks[task].awaits = index_range(first_await, awaits - first_await);
        }
    }

    void take_slices(const std::vector<timeline>& timelines, std::uint32_t tasks) {
        std::vector<owned_slice> gathered;
        for (const timeline& line : timelines)
            for (const owned_slice& ended : line.slices)
                if (ended.run.task < tasks) gathered.push_back(ended);
        std::sort(gathered.begin(), gathered.end(),
                  [](const owned_slice& left, const owned_slice& right) {
                      return std::tie(left.run.task, left.run.start_ns, left.run.end_ns,
                                      left.run.thread) <
                             std::tie(right.run.task, right.run.start_ns, right.run.end_ns,
                                      right.run.thread);
                  });
        for (std::size_t first = 0; first < gathered.size();) {
            std::size_t end = first;
            while (end < gathered.size() && gathered[end].run.task == gathered[first].run.task)
                ++end;
            keep_slices(std::span(gathered).subspan(first, end - first));
            first = end;
        }
    }

    void divide(std::uint32_t tasks) {
        for (std::uint32_t task = 0; task < tasks; ++task) {
            built_.first_segment_.push_back(static_cast<std::uint32_t>(built_.segments_.size()));
            divide_task(loaded_.tasks[task]);
        }
        built_.first_segment_.push_back(static_cast<std::uint32_t>(built_.segments_.size()));
    }

private:
    // Where a task goes on elsewhere before it was done here, the hand-over is where it went on. Where it is not told
    // either to have come here or to have left, it was in its await_suspend.
    void keep_slices(std::span<const owned_slice> of_task) {
        task_info& task = loaded_.tasks[of_task.front().run.task];
        const auto first = static_cast<std::uint32_t>(loaded_.slices.size());
        const std::int64_t last_ns = task.end_ns.value_or(loaded_.duration_ns);
        for (std::size_t at = 0; at < of_task.size(); ++at) {
            if (of_task[at].guessed && at + 1 < of_task.size()) continue;
            slice run = of_task[at].run;
            run.end_ns = std::min(run.end_ns, last_ns);
            if (at + 1 < of_task.size())
                run.end_ns = std::min(run.end_ns, of_task[at + 1].run.start_ns);
            run.end_ns = std::max(run.end_ns, run.start_ns);
            loaded_.slices.push_back(run);
            built_.own_ns_.push_back(std::min(of_task[at].own_ns, run.end_ns - run.start_ns));
        }
        const auto end = static_cast<std::uint32_t>(loaded_.slices.size());
        task.slices = index_range(first, end - first);
    }

    void divide_task(task_info& task) {
        if (!task.first_wake_ns && !task.slices.empty())
            task.first_wake_ns = loaded_.slices[task.slices.front()].start_ns;
        if (!task.first_wake_ns) return;
        if (!task.slices.empty())
            task.first_wake_ns =
                std::min(*task.first_wake_ns, loaded_.slices[task.slices.front()].start_ns);
        const std::int64_t end_ns =
            std::max(*task.first_wake_ns, task.end_ns.value_or(loaded_.duration_ns));
        sums_ = {};
        now_ns_ = *task.first_wake_ns;
        next_await_ = 0;
        is_queued_ = !task.older_than_session && !may_have_run(task);
        for (const std::uint32_t index : task.slices) {
            fill_gap(task, std::min(loaded_.slices[index].start_ns, end_ns));
            run(index, end_ns);
            is_queued_ = false;
        }
        fill_gap(task, end_ns);
        task.time = {sums_.running_ns, sums_.suspended_ns, sums_.queued_ns,
                     end_ns - *task.first_wake_ns - sums_.running_ns - sums_.suspended_ns -
                         sums_.queued_ns};
        if (task.spawn_ns && !task.older_than_session)
            task.spawn_to_wake_ns = std::max<std::int64_t>(0, *task.first_wake_ns - *task.spawn_ns);
    }

    void run(std::uint32_t index, std::int64_t end_ns) {
        advance(segment_kind::running, std::min(loaded_.slices[index].end_ns, end_ns), index);
    }

    // Between two slices: what the awaits say; what none of them covers is waiting.
    void fill_gap(const task_info& task, std::int64_t to_ns) {
        for (; next_await_ < task.awaits.size() && now_ns_ < to_ns; ++next_await_) {
            const await_info& await = loaded_.awaits[task.awaits[next_await_]];
            const std::int64_t resume_ns = await.resume_ns.value_or(to_ns);
            if (await.suspend_ns >= to_ns) break;
            if (resume_ns <= now_ns_) continue;
            advance(uncovered(), std::min(await.suspend_ns, to_ns), none);
            const bool known = await.wake_ns.has_value();
            advance(known ? segment_kind::suspended : segment_kind::waiting,
                    std::min(known ? *await.wake_ns : resume_ns, to_ns), none);
            if (known) advance(segment_kind::queued, std::min(resume_ns, to_ns), none);
            if (resume_ns > to_ns) break;  // goes on behind the next slice: records were lost
        }
        advance(uncovered(), to_ns, none);
    }

    // Between its first wake and its first run that is told.
    bool may_have_run(task_info& task) const {
        const std::int64_t run_ns = task.slices.empty()
                                        ? task.end_ns.value_or(known_span::for_ever)
                                        : loaded_.slices[task.slices.front()].start_ns;
        const bool may = run_ns > *task.first_wake_ns && !known_.holds(*task.first_wake_ns, run_ns);
        task.losses |= may;
        return may;
    }

    // Before its first run a woken task is queued.
    [[nodiscard]] segment_kind uncovered() const {
        return is_queued_ && next_await_ == 0 ? segment_kind::queued : segment_kind::waiting;
    }

    void advance(segment_kind kind, std::int64_t to_ns, std::uint32_t slice_index) {
        if (to_ns <= now_ns_) return;
        built_.segments_.push_back({now_ns_, sums_.running_ns, sums_.suspended_ns, sums_.queued_ns,
                                    sums_.own_ns, slice_index, kind});
        const std::int64_t length_ns = to_ns - now_ns_;
        if (kind == segment_kind::running) {
            sums_.running_ns += length_ns;
            sums_.own_ns += std::min(length_ns, built_.own_ns_[slice_index]);
        }
        if (kind == segment_kind::suspended) sums_.suspended_ns += length_ns;
        if (kind == segment_kind::queued) sums_.queued_ns += length_ns;
        now_ns_ = to_ns;
    }

    task_histories& built_;
    trace& loaded_;
    known_span known_;
    task_histories::sums sums_;
    std::int64_t now_ns_ = 0;
    std::size_t next_await_ = 0;
    bool is_queued_ = true;  // until it runs
};

task_histories::task_histories(const task_records& records, const std::vector<timeline>& timelines,
                               trace& loaded)
    : loaded_(loaded), timelines_(loaded.threads.size()) {
    for (std::size_t stream = 0; stream < timelines.size(); ++stream)
        timelines_[records.streams[stream].thread] = &timelines[stream];
    const std::uint32_t tasks =
        std::min(records.first_folded, static_cast<std::uint32_t>(loaded.tasks.size()));
    history_builder builder(*this, loaded, find_known_span(records, loaded));
    builder.take_lives(records, tasks);
    builder.take_slices(timelines, tasks);
    builder.divide(tasks);
    loaded.tasks.resize(tasks);
}

std::span<const segment> task_histories::segments_of(std::uint32_t task) const {
    const std::uint32_t first = first_segment_[task];
    return std::span(segments_).subspan(first, first_segment_[task + 1] - first);
}

// Own time of a slice's beginning: all of it unless others were nested in the slice.
std::int64_t task_histories::own_within(const slice& run, std::int64_t length_ns,
                                        std::int64_t own_ns, std::int64_t time_ns) const {
    const timeline* line = timelines_[run.thread];
    if (own_ns == length_ns || line == nullptr) return std::min(own_ns, time_ns - run.start_ns);
    const std::int64_t begun_ns =
        line->own_between(run.task, run.start_ns, time_ns, line->switches.size() - 1);
    return std::min(begun_ns, own_ns);
}

task_histories::sums task_histories::until(std::uint32_t task, std::int64_t time_ns) const {
    const std::span<const segment> all = segments_of(task);
    const auto after = std::upper_bound(
        all.begin(), all.end(), time_ns,
        [](std::int64_t moment, const segment& next) { return moment < next.start_ns; });
    if (after == all.begin()) return {};
    const segment& here = *std::prev(after);
    const task_info& info = loaded_.tasks[task];
    const std::int64_t end_ns =
        after == all.end() ? info.end_ns.value_or(loaded_.duration_ns) : after->start_ns;
    const std::int64_t length_ns =
        std::max<std::int64_t>(0, std::min(time_ns, end_ns) - here.start_ns);
    sums found{here.running_before_ns, here.suspended_before_ns, here.queued_before_ns,
               here.own_before_ns};
    if (here.kind == segment_kind::suspended) found.suspended_ns += length_ns;
    if (here.kind == segment_kind::queued) found.queued_ns += length_ns;
    if (here.kind == segment_kind::running) {
        found.running_ns += length_ns;
        found.own_ns += own_within(loaded_.slices[here.slice], end_ns - here.start_ns,
                                   own_ns_[here.slice], here.start_ns + length_ns);
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
    const slice* const latest = latest_slice(loaded_, task, time_ns);
    return latest != nullptr && time_ns <= latest->end_ns;
}

}  // namespace coroscope::analysis::loading
