// SPDX-License-Identifier: Apache-2.0
#pragma once

// The innermost scopes of some tasks, and of threads outside tasks, over time.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../answer/innermost.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline paths {

/// The owner of a scope is a task (an index into trace::tasks); outside tasks, with `task` none, it
/// is a thread (an index into trace::threads).
class scope_timelines {
public:
    /// `loaded` must outlive it.
    explicit scope_timelines(const trace& loaded);

    void watch(std::uint32_t task, std::uint32_t thread);

    /// Must be called once, after the last watch(). Reads every event.
    void read();

    /// Calls visit(from_ns, to_ns, event) for each piece of a time, in order. `event` is the
    /// owner's innermost scope, or none. The owner must be watched.
    template <class Visit>
    void for_each_piece(std::uint32_t task, std::uint32_t thread, std::int64_t from_ns,
                        std::int64_t to_ns, Visit visit) const {
        timelines_[places_[place_of(task, thread)]].for_each_piece(from_ns, to_ns, visit);
    }

    /// Returns the owner's innermost scope at that time, or none. The owner must be watched.
    [[nodiscard]] std::uint32_t innermost_at(std::uint32_t task, std::uint32_t thread,
                                             std::int64_t time_ns) const {
        return timelines_[places_[place_of(task, thread)]].piece_before(time_ns + 1).index;
    }

private:
    [[nodiscard]] std::size_t place_of(std::uint32_t task, std::uint32_t thread) const;

    const trace& loaded_;
    std::vector<std::uint32_t> places_;  // of tasks, then threads: in timelines_, or none
    std::vector<innermost_intervals> timelines_;
};

}  // namespace coroscope::analysis::inline paths
