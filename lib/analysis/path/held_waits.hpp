// SPDX-License-Identifier: Apache-2.0
#pragma once

// The recorded waits for locks and resources that known work ended.

#include <cstdint>
#include <vector>

#include <coroscope/analysis/critical_path.hpp>

namespace coroscope::analysis::inline paths {

/// One wait. Other work explains it from start_ns to until_ns, which is the release, else the end
/// of the wait.
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

/// The work that ended a wait is the work that released the lock or the resource; if the release is
/// unknown, the work that held it when the wait began. Waits that gave up are left out: a time-out
/// ended them. Waits are also left out if neither the release nor the holder is known.
class held_waits {
public:
    explicit held_waits(const trace& loaded);

    /// Returns the latest wait of a thread, without a suspension, that began before `at_ns` and
    /// lasted beyond `from_ns`; null if there is none.
    [[nodiscard]] const held_wait* on_thread(std::uint32_t thread, std::int64_t from_ns,
                                             std::int64_t at_ns) const;

    /// The same for the waits in which the task was suspended.
    [[nodiscard]] const held_wait* of_task(std::uint32_t task, std::int64_t from_ns,
                                           std::int64_t at_ns) const;

private:
    struct owned_wait {
        std::uint64_t owner;  // a number of scope_owner()
        held_wait wait;
    };

    void add_locks(const trace& loaded, const std::vector<lock_wait>& waits);
    void add_resources(const trace& loaded);
    void add(const trace& loaded, std::uint64_t owner, held_wait wait);
    [[nodiscard]] const held_wait* latest(std::uint64_t owner, std::int64_t from_ns,
                                          std::int64_t at_ns) const;

    std::vector<owned_wait> waits_;  // by (owner, start)
};

}  // namespace coroscope::analysis::inline paths
