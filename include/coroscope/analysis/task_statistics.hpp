// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tasks added up by the place that spawned them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/percentiles.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

inline constexpr std::size_t task_state_count = 10;
static_assert(task_state_count == static_cast<std::size_t>(task_state::ended_with_service) + 1);

/// The tasks of one spawn site.
struct task_site_statistics {
    std::uint32_t site = none;  ///< index into trace::sites; none: the spawn was not seen
    std::string name;           ///< the site's label, else its function; "unknown" without a site
    std::uint64_t count = 0;
    std::array<std::uint64_t, task_state_count> states{};  ///< by task_state, at the session's end
    std::uint64_t with_losses = 0;                         ///< tasks of which records were lost
    std::uint64_t older = 0;                               ///< tasks older than the session
    time_split time;                        ///< summed over all tasks, within the session
    std::uint64_t spawn_to_wake_count = 0;  ///< tasks whose spawn and first wake are both known
    std::int64_t spawn_to_wake_ns = 0;      ///< summed over those
    percentiles wall;                       ///< of tasks that ended and whose first wake is known
    /// The kernels, copies and sets that they requested; none: nothing ran on devices.
    optional_ns device_ns;

    /// The states of the threads in time.running_ns; all unknown if the trace has no states.
    state_times running_states;

    /// The place from which most of them were spawned: index into trace::spawn_places; none: it is
    /// known for no task.
    std::uint32_t spawn_place = none;
    std::uint64_t spawn_place_count = 0;  ///< the tasks spawned from there
    std::uint64_t further_places = 0;     ///< number of other known places

    [[nodiscard]] std::uint64_t in_state(task_state state) const {
        return states[static_cast<std::size_t>(state)];
    }
    [[nodiscard]] std::int64_t wall_ns() const { return time.wall_ns(); }
};

/// One entry per spawn site, the largest summed wall time first.
COROSCOPE_API std::vector<task_site_statistics> task_statistics(const trace& loaded);

/// Divides the running time of one task.
[[nodiscard]] COROSCOPE_API state_times states_of(const trace& loaded, const task_info& task);

}  // namespace coroscope::analysis
