// SPDX-License-Identifier: Apache-2.0
#pragma once

// The scopes of each task, and those of each thread outside tasks, by start. Needs four bytes per
// scope.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <coroscope/analysis/model.hpp>

#include "../../answer/scope_states.hpp"

namespace coroscope::analysis::inline profiles {

class scope_index {
public:
    /// `from` must outlive it.
    explicit scope_index(const trace& from);

    /// Calls visit(from_ns, to_ns, event) for each piece of a time of a task, in order and without
    /// gaps. The event is the innermost open scope, or `none`.
    template <class Visit>
    void in_task(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns,
                 const Visit& visit) const {
        for_each_piece(scopes_of(task), from_ns, to_ns, visit);
    }

    /// The same for a thread and the scopes that began there outside tasks.
    template <class Visit>
    void on_thread(std::uint32_t thread, std::int64_t from_ns, std::int64_t to_ns,
                   const Visit& visit) const {
        for_each_piece(scopes_of(tasks_ + thread), from_ns, to_ns, visit);
    }

private:
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

    [[nodiscard]] std::uint32_t owner_of(const event& scope) const;
    [[nodiscard]] std::span<const std::uint32_t> scopes_of(std::uint32_t owner) const {
        return std::span(scopes_).subspan(begins_[owner], begins_[owner + 1] - begins_[owner]);
    }

    [[nodiscard]] std::uint32_t open_at(std::uint32_t event, std::int64_t time_ns) const;

    template <class Visit>
    void for_each_piece(std::span<const std::uint32_t> scopes, std::int64_t from_ns,
                        std::int64_t to_ns, const Visit& visit) const {
        const auto start_of = [this](std::uint32_t event) { return from_.events[event].start_ns; };
        auto next = std::ranges::upper_bound(scopes, from_ns, {}, start_of);
        std::uint32_t current = next == scopes.begin() ? none : open_at(*std::prev(next), from_ns);
        while (from_ns < to_ns) {
            const std::int64_t end_ns = current == none ? never : from_.events[current].end_ns;
            const std::int64_t begin_ns = next == scopes.end() ? never : start_of(*next);
            const std::int64_t until_ns = std::clamp(std::min(end_ns, begin_ns), from_ns, to_ns);
            if (until_ns > from_ns) visit(from_ns, until_ns, current);
            from_ns = until_ns;
            if (begin_ns <= from_ns)
                current = *next++;
            else
                current = open_at(current, from_ns);
        }
    }

    const trace& from_;
    std::uint32_t tasks_;
    std::vector<std::uint32_t> begins_;  // by owner: tasks, then threads, then the end
    std::vector<std::uint32_t> scopes_;
};

/// Calls visit(from_ns, to_ns, task, event) for each piece of a thread's time up to the session's
/// end, in order and without gaps. `slices` must be the thread's, by start. Of slices that overlap,
/// as in a damaged trace, the later one begins at the end of the earlier one. Without a task and a
/// scope the thread had no recorded work.
template <class Visit>
void for_each_piece_of_thread(const trace& from, const scope_index& scopes, std::uint32_t thread,
                              std::span<const std::uint32_t> slices, const Visit& visit) {
    std::int64_t at_ns = 0;
    const auto visit_outside = [&](std::int64_t until_ns) {
        scopes.on_thread(thread, at_ns, until_ns,
                         [&](std::int64_t from_ns, std::int64_t to_ns, std::uint32_t event) {
                             visit(from_ns, to_ns, none, event);
                         });
        at_ns = std::max(at_ns, until_ns);
    };
    for (const std::uint32_t index : slices) {
        const slice& run = from.slices[index];
        visit_outside(run.start_ns);
        scopes.in_task(run.task, at_ns, run.end_ns,
                       [&](std::int64_t from_ns, std::int64_t to_ns, std::uint32_t event) {
                           visit(from_ns, to_ns, run.task, event);
                       });
        at_ns = std::max(at_ns, run.end_ns);
    }
    visit_outside(from.duration_ns);
}

/// Returns the slices of each thread, by start. Slices without a thread or a task are left out.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> slices_by_thread(const trace& from);

}  // namespace coroscope::analysis::inline profiles
