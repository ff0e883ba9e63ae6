// SPDX-License-Identifier: Apache-2.0
#include "work_ahead.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <span>
#include <tuple>
#include <utility>

namespace coroscope::analysis::inline paths {

// The work on a thread during a time: an index into the blame.
struct work_ahead::piece {
    std::int64_t from_ns;
    std::int64_t to_ns;
    std::size_t work;
};

namespace {

// Longer than the kernel takes to wake a thread.
constexpr std::int64_t slow_wake_ns = 1'000'000;

// Charges the time of a segment to the thread of the strand's job; if there is none, to the threads
// without work; if there are none, to all threads.
class charges {
public:
    charges(std::vector<path_blame>& work, std::span<const strand_run> strand)
        : work_(work), strand_(strand) {}

    // `current` is the work of each thread.
    void charge(const std::vector<std::size_t>& current, std::int64_t from_ns, std::int64_t to_ns) {
        while (from_ns < to_ns) {
            const auto [thread, until_ns] = strand_at(from_ns, to_ns);
            share(current, thread, until_ns - from_ns);
            from_ns = until_ns;
        }
    }

private:
    // Returns the thread of the strand's job at that time, or none, and the end of this state.
    [[nodiscard]] std::pair<std::uint32_t, std::int64_t> strand_at(std::int64_t from_ns,
                                                                   std::int64_t to_ns) const {
        const auto after = std::ranges::upper_bound(strand_, from_ns, {}, &strand_run::from_ns);
        const std::int64_t next_ns =
            after == strand_.end() ? to_ns : std::min(to_ns, after->from_ns);
        if (after == strand_.begin() || std::prev(after)->to_ns <= from_ns) return {none, next_ns};
        return {std::prev(after)->thread, std::min(next_ns, std::prev(after)->to_ns)};
    }

    void share(const std::vector<std::size_t>& current, std::uint32_t strand_thread,
               std::int64_t time_ns) {
        const auto is_idle = [this](std::size_t each) {
            return work_[each].task == none && work_[each].event == none;
        };
        const auto is_strand = [&](std::size_t each) {
            return work_[each].thread == strand_thread;
        };
        if (strand_thread != none && std::ranges::any_of(current, is_strand))
            share_among(current, is_strand, time_ns);
        else if (std::ranges::any_of(current, is_idle))
            share_among(current, is_idle, time_ns);
        else
            share_among(current, [](std::size_t) { return true; }, time_ns);
    }

    // The first threads get the nanoseconds of the remainder.
    template <class Chosen>
    void share_among(const std::vector<std::size_t>& current, Chosen chosen, std::int64_t time_ns) {
        std::int64_t left = std::ranges::count_if(current, chosen);
        for (const std::size_t each : current) {
            if (!chosen(each)) continue;
            const std::int64_t part_ns = (time_ns + left - 1) / left;
            --left;
            work_[each].charged_ns += part_ns;
            time_ns -= part_ns;
        }
    }

    std::vector<path_blame>& work_;
    std::span<const strand_run> strand_;
};

}  // namespace

std::uint32_t thread_after(const trace& loaded, std::uint32_t task, std::int64_t time_ns) {
    const index_range& own = loaded.tasks[task].slices;
    if (own.empty()) return none;
    const auto begin = loaded.slices.begin() + own.front();
    const auto end = begin + static_cast<std::ptrdiff_t>(own.size());
    const auto next = std::ranges::lower_bound(begin, end, time_ns, {}, &slice::start_ns);
    return next != end && next->thread < loaded.threads.size() ? next->thread : none;
}

queue_place queue_of(const trace& loaded, const path_segment& of) {
    return {of.await != none ? loaded.awaits[of.await].executor : loaded.tasks[of.task].executor,
            thread_after(loaded, of.task, of.end_ns)};
}

// Returns the threads that served the executor during the segment, and the thread that ran the task
// next.
std::vector<serving_thread> work_ahead::threads_of(const path_segment& queued) const {
    const queue_place queue = queue_of(around_.loaded(), queued);
    std::vector<serving_thread> found;
    for (const serving_thread& each : threads_.of(queue.executor)) {
        const std::int64_t from_ns = std::max(queued.start_ns, each.from_ns);
        const std::int64_t to_ns = std::min(queued.end_ns, each.to_ns);
        if (each.thread != queue.thread && from_ns < to_ns)
            found.push_back({each.thread, from_ns, to_ns});
    }
    if (queue.thread != none) found.push_back({queue.thread, queued.start_ns, queued.end_ns});
    return found;
}

void work_ahead::watch(const path_segment& queued) {
    for (const serving_thread& each : threads_of(queued))
        around_.occupants()
            .on(each.thread)
            .for_each_piece(each.from_ns, each.to_ns,
                            [&](std::int64_t, std::int64_t, std::uint32_t task) {
                                scopes_.watch(task, each.thread);
                            });
}

// Returns the time from which on the work on the threads was ahead of the task. If the thread that
// ran the task next waited for work after it had run another task, this task was not in its queue:
// something else held it back until then.
std::int64_t work_ahead::first_ahead(const path_segment& queued) const {
    const trace& loaded = around_.loaded();
    const queue_place queue = queue_of(loaded, queued);
    if (queue.thread == none || !threads_.jobs_of_strand(queue.executor).empty())
        return queued.start_ns;
    std::int64_t waited_ns = 0;
    std::int64_t last_ns = queued.start_ns;
    around_.occupants()
        .on(queue.thread)
        .for_each_piece(queued.start_ns, queued.end_ns,
                        [&](std::int64_t from_ns, std::int64_t to_ns, std::uint32_t task) {
                            if (task != none || from_ns == queued.start_ns) return;
                            waited_ns +=
                                loaded.states.between(queue.thread, from_ns, to_ns).blocked_ns;
                            last_ns = to_ns;
                        });
    return waited_ns >= slow_wake_ns ? last_ns : queued.start_ns;
}

std::vector<work_ahead::piece> work_ahead::pieces_of(const path_segment& queued,
                                                     std::vector<path_blame>& work) const {
    std::vector<piece> pieces;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::size_t> places;
    for (const serving_thread& each : threads_of(queued)) {
        const auto add = [&](std::int64_t from_ns, std::int64_t to_ns, std::uint32_t task,
                             std::uint32_t scope) {
            const auto [found, is_new] =
                places.try_emplace({each.thread, task, scope}, work.size());
            if (is_new) work.push_back({each.thread, task, scope, 0, 0});
            work[found->second].time_ns += to_ns - from_ns;
            pieces.push_back({from_ns, to_ns, found->second});
        };
        around_.occupants()
            .on(each.thread)
            .for_each_piece(each.from_ns, each.to_ns,
                            [&](std::int64_t from_ns, std::int64_t to_ns, std::uint32_t task) {
                                scopes_.for_each_piece(task, each.thread, from_ns, to_ns,
                                                       [&](std::int64_t begin_ns,
                                                           std::int64_t end_ns,
                                                           std::uint32_t scope) {
                                                           add(begin_ns, end_ns, task, scope);
                                                       });
                            });
    }
    return pieces;
}

std::vector<path_blame> work_ahead::of(const path_segment& queued) const {
    std::vector<path_blame> work;
    const std::vector<piece> pieces = pieces_of(queued, work);
    std::vector<std::pair<std::int64_t, std::size_t>> edges;
    for (std::size_t at = 0; at < pieces.size(); ++at) {
        edges.emplace_back(pieces[at].from_ns, at);
        edges.emplace_back(pieces[at].to_ns, at);
    }
    std::ranges::sort(edges);
    charges to(work, threads_.jobs_of_strand(queue_of(around_.loaded(), queued).executor));
    std::vector<std::size_t> current;
    std::int64_t since_ns = queued.start_ns;
    const std::int64_t first_ns = first_ahead(queued);
    for (const auto& [time_ns, at] : edges) {
        if (time_ns > since_ns && !current.empty())
            to.charge(current, std::max(since_ns, first_ns), time_ns);
        since_ns = time_ns;
        if (time_ns == pieces[at].from_ns)
            current.push_back(pieces[at].work);
        else
            current.erase(std::ranges::find(current, pieces[at].work));
    }
    std::ranges::stable_sort(work, std::ranges::greater(), [](const path_blame& each) {
        return std::pair(each.charged_ns, each.time_ns);
    });
    return work;
}

}  // namespace coroscope::analysis::inline paths
