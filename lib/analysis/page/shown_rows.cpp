// SPDX-License-Identifier: Apache-2.0
#include "shown_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>

namespace coroscope::analysis::inline pages {
namespace {

constexpr std::size_t most_shown_paths = 2000;
constexpr std::size_t most_shown_segments = 150'000;

/// Chooses the work of requests until the room is used up.
class work_choice {
public:
    work_choice(const trace& from, const work_index& work, std::uint64_t most_scopes)
        : from_(from),
          work_(work),
          most_scopes_(most_scopes),
          most_rows_(2 * most_scopes),
          scopes_(from.events.size()),
          tasks_(from.tasks.size()),
          slices_(from.slices.size()),
          awaits_(from.awaits.size()) {}

    [[nodiscard]] bool is_full() const {
        return scope_count_ >= most_scopes_ || row_count_ >= most_rows_;
    }

    /// Takes the work of a request. Returns false if there is too much of it: then takes nothing,
    /// or, of the first request, as much as fits.
    bool take_request(const request_info& request) {
        const std::vector<owned_time> parts = work_.parts_of(request);
        std::uint64_t scopes = 0;
        for (const owned_time& part : parts) scopes += work_.scopes_in(part).size();
        const bool fits = scope_count_ + scopes <= most_scopes_;
        if (!fits && scope_count_ != 0) return false;
        for (const owned_time& part : parts) {
            for (const std::uint32_t scope : work_.scopes_in(part)) {
                if (is_full()) return fits;
                take_scope(scope);
            }
            take_task(part);
        }
        return fits;
    }

    /// Takes the longest scopes that fit beside those that were taken.
    void take_longest() {
        if (is_full()) return;
        std::vector<std::int64_t> lengths;
        for (std::uint32_t at = 0; at < scopes_.size(); ++at)
            if (!scopes_[at]) lengths.push_back(length_of(at));
        const std::size_t room = most_scopes_ - scope_count_;
        if (room >= lengths.size()) return;
        const auto last = lengths.begin() + static_cast<std::ptrdiff_t>(room);
        std::ranges::nth_element(lengths, last, std::ranges::greater());
        const std::int64_t too_short_ns = *last;
        for (std::uint32_t at = 0; at < scopes_.size(); ++at)
            if (!scopes_[at] && length_of(at) > too_short_ns) take_scope(at);
    }

    void take_path(const critical_path& path) {
        for (const path_segment& each : path.segments)
            take_work(each.task, each.event, each.start_ns, each.end_ns);
        for (const path_wait& each : path.waits)
            take_work(each.task, each.event, each.start_ns, each.end_ns);
        for (const path_blame& each : path.blame) {
            take_scope(each.event);
            if (each.task < from_.tasks.size()) tasks_[each.task] = true;
        }
    }

    void choose(shown_rows& into) const {
        into.scopes = kept_rows(scopes_);
        into.tasks = kept_rows(tasks_);
        into.slices = kept_rows(slices_);
        into.awaits = kept_rows(awaits_);
    }

private:
    [[nodiscard]] std::int64_t length_of(std::uint32_t scope) const {
        return from_.events[scope].end_ns - from_.events[scope].start_ns;
    }

    void take_work(std::uint32_t task, std::uint32_t scope, std::int64_t from_ns,
                   std::int64_t to_ns) {
        take_scope(scope);
        take_task({task, none, from_ns, to_ns});
    }

    void take_scope(std::uint32_t scope) {
        for (; scope < from_.events.size() && !scopes_[scope]; scope = from_.events[scope].parent) {
            scopes_[scope] = true;
            ++scope_count_;
            ++row_count_;
        }
    }

    // The awaits and slices of a task come by time.
    void take_task(const owned_time& part) {
        if (part.task >= from_.tasks.size()) return;
        tasks_[part.task] = true;
        const task_info& task = from_.tasks[part.task];
        take_between(task.slices, slices_, part, [this](std::uint32_t at) {
            const slice& each = from_.slices[at];
            return std::pair(each.start_ns, each.end_ns);
        });
        take_between(task.awaits, awaits_, part, [this](std::uint32_t at) {
            const await_info& each = from_.awaits[at];
            return std::pair(each.suspend_ns, each.resume_ns.value_or(from_.duration_ns));
        });
    }

    template <class TimeOf>
    void take_between(index_range range, std::vector<bool>& chosen, const owned_time& part,
                      const TimeOf& time_of) {
        std::size_t first = 0, end = range.size();
        while (first < end) {  // the first one that ends at or after the begin
            const std::size_t middle = (first + end) / 2;
            if (time_of(range[middle]).second < part.from_ns)
                first = middle + 1;
            else
                end = middle;
        }
        for (; first < range.size() && time_of(range[first]).first <= part.to_ns; ++first) {
            if (!chosen[range[first]]) ++row_count_;
            chosen[range[first]] = true;
        }
    }

    const trace& from_;
    const work_index& work_;
    std::uint64_t most_scopes_;
    std::uint64_t most_rows_;
    std::uint64_t scope_count_ = 0;
    std::uint64_t row_count_ = 0;
    std::vector<bool> scopes_;
    std::vector<bool> tasks_;
    std::vector<bool> slices_;
    std::vector<bool> awaits_;
};

void join_times(std::vector<std::pair<std::int64_t, std::int64_t>>& times) {
    std::ranges::sort(times);
    std::size_t kept = 0;
    for (const auto& each : times) {
        if (kept != 0 && each.first <= times[kept - 1].second)
            times[kept - 1].second = std::max(times[kept - 1].second, each.second);
        else
            times[kept++] = each;
    }
    times.resize(kept);
}

bool fits(const trace& from, std::uint64_t most_scopes) {
    return from.events.size() <= most_scopes &&
           from.events.size() + from.slices.size() + from.awaits.size() <= 2 * most_scopes;
}

}  // namespace

bool shown_rows::shows(std::int64_t from_ns, std::int64_t to_ns) const {
    if (is_whole) return true;
    const auto after =
        std::ranges::lower_bound(times, from_ns, {}, [](const auto& each) { return each.second; });
    return after != times.end() && after->first <= to_ns;
}

shown_paths paths_to_show(const trace& from, const request_order& order) {
    std::vector<std::uint32_t> rows = order.by_right();
    if (rows.size() > most_shown_paths) rows.resize(most_shown_paths);
    std::vector<request_info> requests;
    for (const std::uint32_t row : rows) requests.push_back(order.request_of(row));
    std::vector<std::pair<std::uint32_t, critical_path>> found;
    std::size_t segments = 0;
    for_each_critical_path(from, requests, {}, [&](const critical_path& path) {
        segments += path.segments.size();
        if (segments <= most_shown_segments || found.empty())
            found.emplace_back(rows[found.size()], path);
        else
            segments = most_shown_segments + 1;  // shorter paths would not come in the order
    });
    std::ranges::sort(found, {}, [](const auto& each) { return each.first; });
    shown_paths shown;
    for (auto& [row, path] : found) {
        shown.rows.push_back(row);
        shown.paths.push_back(std::move(path));
    }
    return shown;
}

shown_rows rows_to_show(const trace& from, const request_order& order, const work_index& work,
                        const shown_paths& paths, std::uint64_t most_scopes) {
    shown_rows shown;
    shown.requests.resize(order.rows().size(), true);
    if (fits(from, most_scopes)) {
        shown.scopes = kept_rows(from.events.size());
        shown.tasks = kept_rows(from.tasks.size());
        shown.slices = kept_rows(from.slices.size());
        shown.awaits = kept_rows(from.awaits.size());
        for (std::uint32_t row = 0; row < shown.requests.size(); ++row)
            shown.requests[row] = !order.request_of(row).left_out;
        return shown;
    }
    shown.is_whole = false;
    shown.requests.assign(shown.requests.size(), false);
    work_choice choice(from, work, most_scopes);
    for (const std::uint32_t row : order.by_right()) {
        if (choice.is_full()) break;
        const request_info& request = order.request_of(row);
        shown.requests[row] = choice.take_request(request);
        if (!shown.requests[row] && !shown.times.empty()) continue;
        const auto path = std::ranges::lower_bound(paths.rows, row);
        if (shown.requests[row] && path != paths.rows.end() && *path == row)
            choice.take_path(paths.paths[static_cast<std::size_t>(path - paths.rows.begin())]);
        shown.times.emplace_back(request.start_ns, request.end_ns);
    }
    if (shown.times.empty()) {
        choice.take_longest();
        shown.times.emplace_back(0, from.duration_ns);
    }
    join_times(shown.times);
    choice.choose(shown);
    return shown;
}

}  // namespace coroscope::analysis::inline pages
