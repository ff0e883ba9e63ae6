// SPDX-License-Identifier: Apache-2.0
#pragma once

// The recorded waits for locks and resources that known work ended.

#include <cstdint>
#include <optional>
#include <vector>

#include <coroscope/analysis/critical_path.hpp>

#include "hold_times.hpp"

namespace coroscope::analysis::inline paths {

/// A part of a wait in which other work held the lock or the resource, until the release or, if the
/// release is unknown, until the wait ended.
struct held_wait {
    std::int64_t start_ns = 0;
    std::int64_t until_ns = 0;
    std::uint32_t task = none;    ///< the task of that work; none: outside tasks
    std::uint32_t thread = none;  ///< the thread of that work, if it was outside tasks
    path_edge edge = path_edge::lock;
    std::uint32_t resource = none;  ///< index into trace::resource_waits
    std::uint64_t lock_address = 0;
    coroscope::trace::lock_kind lock = coroscope::trace::lock_kind::unknown;
};

/// The parts are those of hold_times. Waits that gave up are left out: a time-out ended them.
class held_waits {
public:
    /// `loaded` must outlive it.
    explicit held_waits(const trace& loaded);

    /// Returns the latest part of a wait of a thread, without a suspension, that began before
    /// `at_ns` and lasted beyond `from_ns`.
    [[nodiscard]] std::optional<held_wait> on_thread(std::uint32_t thread, std::int64_t from_ns,
                                                     std::int64_t at_ns) const;

    /// The same for the waits in which the task was suspended.
    [[nodiscard]] std::optional<held_wait> of_task(std::uint32_t task, std::int64_t from_ns,
                                                   std::int64_t at_ns) const;

    [[nodiscard]] const hold_times& holds() const noexcept { return holds_; }

    /// Returns whether the suspended task waited for a resource just before that time.
    [[nodiscard]] bool is_for_resource(std::uint32_t task, std::int64_t at_ns) const;

private:
    struct owned_wait {
        std::uint64_t owner;  // a number of scope_owner()
        std::int64_t start_ns;
        std::int64_t end_ns;
        std::uint32_t index;
        enum class list { locks, samples, resources } of;
    };

    using place = std::vector<owned_wait>::const_iterator;

    [[nodiscard]] place first_after(std::uint64_t owner, std::int64_t at_ns) const;
    void add_locks(const std::vector<lock_wait>& waits, owned_wait::list of);
    void add_resources();
    [[nodiscard]] std::optional<held_wait> latest(std::uint64_t owner, std::int64_t from_ns,
                                                  std::int64_t at_ns) const;
    [[nodiscard]] std::optional<held_wait> part_of(const owned_wait& wait,
                                                   std::int64_t at_ns) const;
    [[nodiscard]] std::optional<held_wait> part_of(const lock_wait& wait, std::int64_t at_ns) const;
    [[nodiscard]] std::optional<held_wait> part_of_resource(std::uint32_t index,
                                                            std::int64_t at_ns) const;
    [[nodiscard]] std::optional<held_wait> held(held_wait part, const hold_time& by) const;

    const trace& loaded_;
    hold_times holds_;
    std::vector<lock_wait> samples_;
    std::vector<owned_wait> waits_;  // by (owner, start)
};

}  // namespace coroscope::analysis::inline paths
