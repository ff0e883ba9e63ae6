// SPDX-License-Identifier: Apache-2.0
#pragma once

// The work of a trace by its owner, a task or a thread outside tasks: scopes and spawned tasks.
// Needs four bytes per scope and per task.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline pages {

/// A part of the time of an owner.
struct owned_time {
    std::uint32_t task = none;    ///< index into trace::tasks; none: outside tasks
    std::uint32_t thread = none;  ///< index into trace::threads; of a task, none
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;
};

class work_index {
public:
    /// `from` must outlive it.
    explicit work_index(const trace& from);

    /// The scopes of an owner that began in that time, by start.
    [[nodiscard]] std::span<const std::uint32_t> scopes_in(const owned_time& part) const;

    /// Returns the time of the request itself, then, for each task that was created within it, and
    /// for the descendants of these tasks, the time from its spawn to the end of the request.
    [[nodiscard]] std::vector<owned_time> parts_of(const request_info& request) const;

private:
    [[nodiscard]] std::uint32_t owner_of(const owned_time& part) const;
    void add_children(const owned_time& of, std::int64_t end_ns, std::vector<owned_time>& to) const;

    const trace& from_;
    std::vector<std::uint32_t> scope_begins_;  // by owner: tasks, then threads, then the end
    std::vector<std::uint32_t> scopes_;
    std::vector<std::uint32_t> child_begins_;  // the same
    std::vector<std::uint32_t> children_;
};

}  // namespace coroscope::analysis::inline pages
