// SPDX-License-Identifier: Apache-2.0
#include "executor_occupants.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "../answer/innermost.hpp"
#include "../answer/scope_states.hpp"

namespace coroscope::analysis::inline executor_answers {
namespace {

// Times by executor, then by spawn site or by name of a scope.
using times_of_executor = std::map<std::uint32_t, std::int64_t>;
using times_by_executor = std::vector<times_of_executor>;

std::uint32_t spawn_site_of(const trace& loaded, std::uint32_t task) {
    return task < loaded.tasks.size() ? loaded.tasks[task].spawn_site : none;
}

/// The occupation of an executor by a run: the run's own executor, or that of a run around it.
struct occupation {
    std::size_t run;
    std::uint32_t executor;
    std::int64_t own_ns;  // of the run, without the runs within it
};

/// Finds the occupations of each run. A run has at most one occupation of each executor.
class occupation_finder {
public:
    explicit occupation_finder(const std::vector<executor_run>& runs) : runs_(runs) {}

    std::vector<occupation> find() {
        for (std::size_t at = 0; at < runs_.size(); ++at) {
            if (at != 0 && runs_[at - 1].thread != runs_[at].thread) close_until(open_at_end);
            close_until(runs_[at].start_ns);
            const std::int64_t length_ns = runs_[at].end_ns - runs_[at].start_ns;
            if (!open_.empty()) open_.back().second -= length_ns;
            open_.emplace_back(at, length_ns);
        }
        close_until(open_at_end);
        return std::move(found_);
    }

private:
    static constexpr std::int64_t open_at_end = INT64_MAX;

    void close_until(std::int64_t time_ns) {
        while (!open_.empty() && runs_[open_.back().first].end_ns <= time_ns) {
            if (open_.back().second > 0) add(open_.back().first, open_.back().second);
            open_.pop_back();
        }
    }

    // `run` is the innermost open run.
    void add(std::size_t run, std::int64_t own_ns) {
        for (std::size_t at = 0; at < open_.size(); ++at) {
            const std::uint32_t executor = executor_of(at);
            bool known = executor == none;
            for (std::size_t below = 0; below < at && !known; ++below)
                known = executor_of(below) == executor;
            if (!known) found_.push_back({run, executor, own_ns});
        }
    }

    [[nodiscard]] std::uint32_t executor_of(std::size_t at) const {
        return runs_[open_[at].first].executor;
    }

    const std::vector<executor_run>& runs_;
    std::vector<occupation> found_;
    std::vector<std::pair<std::size_t, std::int64_t>> open_;  // with the own time so far
};

const std::pair<const std::uint32_t, std::int64_t>* longest(const times_of_executor& times) {
    const auto found =
        std::ranges::max_element(times, {}, [](const auto& each) { return each.second; });
    return found == times.end() ? nullptr : &*found;
}

/// Divides the runs of occupants among the scopes of their tasks.
class scope_times {
public:
    scope_times(const trace& loaded, const std::vector<executor_run>& runs)
        : loaded_(loaded), runs_(runs), scopes_(loaded.tasks.size()) {}

    times_by_executor find(const std::vector<occupation>& occupations,
                           const std::vector<executor_occupant>& occupants) {
        std::vector<occupation> counted;
        std::vector<bool> watched(loaded_.tasks.size());
        for (const occupation& each : occupations) {
            const std::uint32_t task = runs_[each.run].task;
            if (occupants[each.executor].spawn_site != spawn_site_of(loaded_, task)) continue;
            counted.push_back(each);
            watched[task] = true;
        }
        read_scopes(watched);
        times_by_executor times(occupants.size());
        for (const occupation& each : counted) add_run(runs_[each.run], times[each.executor]);
        return times;
    }

private:
    void read_scopes(const std::vector<bool>& watched) {
        for (std::uint32_t at = 0; at < loaded_.events.size(); ++at) {
            const event& scope = loaded_.events[at];
            if (scope.task < watched.size() && watched[scope.task] && !has_no_self_time(scope))
                scopes_[scope.task].add(at, scope.start_ns, scope.end_ns);
        }
        for (innermost_intervals& each : scopes_) each.finish();
    }

    void add_run(const executor_run& run, times_of_executor& times) const {
        const innermost_intervals& scopes = scopes_[run.task];
        for (std::uint32_t at = run.first_slice; at < run.first_slice + run.slices; ++at)
            scopes.for_each_piece(
                loaded_.slices[at].start_ns, loaded_.slices[at].end_ns,
                [&](std::int64_t from_ns, std::int64_t to_ns, std::uint32_t scope) {
                    if (scope != none) add_to(times[loaded_.events[scope].name], to_ns - from_ns);
                });
    }

    const trace& loaded_;
    const std::vector<executor_run>& runs_;
    std::vector<innermost_intervals> scopes_;  // by task
};

}  // namespace

std::vector<executor_occupant> find_occupants(const trace& loaded,
                                              const std::vector<executor_run>& runs) {
    std::vector<executor_occupant> found(loaded.executors.size());
    const std::vector<occupation> occupations = occupation_finder(runs).find();
    times_by_executor sites(found.size());
    for (const occupation& each : occupations)
        add_to(sites[each.executor][spawn_site_of(loaded, runs[each.run].task)], each.own_ns);
    for (std::size_t at = 0; at < found.size(); ++at)
        if (const auto* most = longest(sites[at])) {
            found[at].spawn_site = most->first;
            found[at].time_ns = most->second;
        }
    const times_by_executor scopes = scope_times(loaded, runs).find(occupations, found);
    for (std::size_t at = 0; at < found.size(); ++at)
        if (const auto* most = longest(scopes[at])) found[at].scope = most->first;
    return found;
}

}  // namespace coroscope::analysis::inline executor_answers
