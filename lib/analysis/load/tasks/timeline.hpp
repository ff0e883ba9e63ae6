// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tasks that run on one thread: its slices, its hand-overs, and the owner of each moment.
// thread_timeline.hpp builds it from the records.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "../records/growing_list.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline tasks {

/// The owner of the time from `time_ns` on, and of the scopes after `position` in the stream.
struct switch_point {
    std::int64_t time_ns = 0;
    std::int64_t own_before_ns = 0;  ///< own time of `group`'s frame until this switch
    std::uint32_t position = 0;
    std::uint32_t group = none;  ///< the task that owns the time; none: the thread itself
    std::uint32_t task = none;   ///< the task that owns the scopes
};

struct owned_slice {
    slice run;
    std::int64_t own_ns = 0;
    /// The task was current, and no record shows that it left. It ran here, unless records show
    /// that it continued on another thread.
    bool guessed = false;
    std::uint32_t before =
        none;  ///< the part of the same slice before this one: index into timeline::slices
    bool unseen = false;  ///< it ended before the thread's first record
};

/// A stretch in which a task was suspended while tasks that it had resumed ran on top of it.
struct hand_over {
    std::uint32_t task = none;
    std::uint32_t first = none;  ///< the task that it resumed
    std::uint32_t last = none;   ///< the task that gave the thread back
    std::uint32_t thread = none;
    std::int64_t start_ns = 0;
    optional_ns end_ns;         ///< none: the thread did not return to the task
    std::uint32_t part = none;  ///< the slice part before it: index into timeline::slices
    bool unseen_start = false;  ///< it began before the thread's first record
};

}  // namespace coroscope::analysis::inline tasks

namespace coroscope::analysis {

template <>
struct packed_columns<owned_slice> {
    using type =
        std::tuple<packed_inner<&owned_slice::run, &slice::start_ns>,
                   packed_inner<&owned_slice::run, &slice::end_ns>,
                   packed_inner<&owned_slice::run, &slice::task>,
                   packed_inner<&owned_slice::run, &slice::thread>,
                   packed_member<&owned_slice::own_ns>, packed_member<&owned_slice::guessed>,
                   packed_member<&owned_slice::before>, packed_member<&owned_slice::unseen>>;
};

template <>
struct packed_columns<hand_over> {
    using type =
        std::tuple<packed_member<&hand_over::task>, packed_member<&hand_over::first>,
                   packed_member<&hand_over::last>, packed_member<&hand_over::thread>,
                   packed_member<&hand_over::start_ns>, packed_member<&hand_over::end_ns>,
                   packed_member<&hand_over::part>, packed_member<&hand_over::unseen_start>>;
};

}  // namespace coroscope::analysis

namespace coroscope::analysis::inline tasks {

struct timeline {
    /// At least one; the first holds from the beginning. Only that one if no scope needs them.
    std::vector<switch_point> switches;
    growing_list<owned_slice>
        slices;  ///< parts between hand-overs, in the order in which they ended
    growing_list<hand_over> hand_overs;  ///< in the order in which they ended

    /// The index of the switch in force at `position`. `hint`, an index near it, makes it fast.
    [[nodiscard]] std::size_t in_force(std::uint32_t position, std::size_t hint) const;

    /// The position at which switch `at` stops being in force.
    [[nodiscard]] std::uint32_t end_of(std::size_t at) const {
        return at + 1 < switches.size() ? switches[at + 1].position : none;
    }

    /// The own time of `group` between two moments of one of its slices, or of the thread's time.
    /// `last` is the index of the switch in force at `to_ns` or later.
    [[nodiscard]] std::int64_t own_between(std::uint32_t group, std::int64_t from_ns,
                                           std::int64_t to_ns, std::size_t last) const;

private:
    [[nodiscard]] std::size_t find(std::uint32_t group, std::int64_t moment_ns,
                                   std::size_t last) const;
};

}  // namespace coroscope::analysis::inline tasks
