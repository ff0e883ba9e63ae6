// SPDX-License-Identifier: Apache-2.0
#pragma once

// The facts of a trace that several rules read: the requests, and the delays on their critical
// paths.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/findings.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/request_statistics.hpp>

#include "../path/place_numbers.hpp"
#include "delays.hpp"

namespace coroscope::analysis::inline checks {

/// A whole request whose path was followed.
struct checked_request {
    request_info info;
    stalled_time stalled{};        ///< the part of its path that belongs to no recorded work
    std::int64_t unproven_ns = 0;  ///< the part whose cause is unknown, because facts are missing

    /// Its wall time without these parts.
    [[nodiscard]] std::int64_t program_ns() const noexcept {
        return info.wall_ns() - stalled.total_ns() - unproven_ns;
    }
};

class check_input {
public:
    /// `loaded` must outlive it. Follows the paths of all requests.
    check_input(const trace& loaded, const check_options& options);

    [[nodiscard]] const trace& loaded() const noexcept { return loaded_; }
    [[nodiscard]] const request_list& list() const noexcept { return list_; }
    [[nodiscard]] finding_basis basis() const noexcept { return basis_; }
    /// By start. If there are very many, or their paths are very long, an evenly chosen part of
    /// them.
    [[nodiscard]] std::span<const checked_request> requests() const noexcept { return requests_; }
    /// The number of all whole requests.
    [[nodiscard]] std::uint64_t whole_requests() const noexcept { return whole_requests_; }
    [[nodiscard]] std::span<const queue_delay> queue_delays() const noexcept { return queued_; }
    [[nodiscard]] std::span<const hold_delay> hold_delays() const noexcept { return held_; }
    [[nodiscard]] std::span<const turn_delay> turn_delays() const noexcept { return turns_; }
    [[nodiscard]] std::int64_t request_ns() const noexcept { return request_ns_; }
    [[nodiscard]] const stalled_time& stalled() const noexcept { return stalled_; }
    /// Queued time that belongs to no recorded work, by index into trace::executors; the last one
    /// is that of unknown executors.
    [[nodiscard]] const stalled_time& stalled_of(std::uint32_t executor) const;

    /// Returns whether a cost is at least `share` of the request time that recorded work explains.
    [[nodiscard]] bool is_worth(std::int64_t cost_ns, double share) const noexcept;
    /// The part of all request time, at most 1.
    [[nodiscard]] double share_of(std::int64_t cost_ns) const noexcept;

    /// Whether nothing is missing from the trace, so that the absence of a record proves something.
    [[nodiscard]] bool is_complete() const noexcept;

    /// The events of a task by start; indices into trace::events.
    [[nodiscard]] std::span<const std::uint32_t> events_of(std::uint32_t task) const;

    /// The request that a task worked for at a moment: that of the task, of the task that awaits
    /// it, or of the one that spawned it. An index into requests(), or none.
    [[nodiscard]] std::uint32_t request_at(std::uint32_t task, std::int64_t time_ns) const;

    /// A number for the kind of work of a task: its first scope; without scopes, its spawn site.
    [[nodiscard]] std::uint32_t kind_of(std::uint32_t task);
    /// Whether two tasks do, or may do, work of one kind: the first scope of a task that had not
    /// ended may be missing.
    [[nodiscard]] bool may_be_of_one_kind(std::uint32_t task, std::uint32_t other);

    /// "GET /item".
    [[nodiscard]] finding_place type_of(const checked_request& request) const;
    /// The place of a scope; without a scope, of a task.
    [[nodiscard]] finding_place work_at(std::uint32_t task, std::uint32_t scope);
    /// The place of an await.
    [[nodiscard]] finding_place await_at(const await_info& await);

    /// The place of the innermost scope around an await; if that is a request, the await's own.
    [[nodiscard]] finding_place wait_at(const await_info& await);

    [[nodiscard]] place_numbers& places() noexcept { return places_; }

private:
    [[nodiscard]] bool may_lack_first_scope(std::uint32_t task) const noexcept;
    void choose_requests(std::size_t most_followed);
    void follow_paths(std::size_t most_segments);
    void keep_requests(std::span<const std::uint32_t> kept);
    void sort_requests();
    void sort_events();

    // A request of a task, and the latest end of it and of the task's requests before it.
    struct own_request {
        std::uint32_t task = none;
        std::uint32_t request = none;
        std::int64_t latest_end_ns = 0;
    };

    const trace& loaded_;
    request_list list_;
    finding_basis basis_ = finding_basis::marked_requests;
    std::vector<checked_request> requests_;
    std::vector<queue_delay> queued_;
    std::vector<hold_delay> held_;
    std::vector<turn_delay> turns_;
    std::vector<stalled_time> stalled_of_executors_;
    std::uint64_t whole_requests_ = 0;
    std::int64_t request_ns_ = 0;
    stalled_time stalled_;
    std::vector<std::uint32_t> event_order_;   // by (task, start)
    std::vector<std::uint32_t> event_starts_;  // of each task in event_order_
    std::unordered_map<std::uint64_t, std::uint32_t> kinds_;
    std::vector<bool> is_request_;  // by event
    std::vector<own_request> own_;  // by (task, start)
    place_numbers places_;
};

}  // namespace coroscope::analysis::inline checks
