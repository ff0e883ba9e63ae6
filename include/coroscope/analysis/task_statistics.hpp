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

inline constexpr std::size_t task_state_count = 9;

/// The tasks of one spawn site.
struct task_site_statistics {
    std::uint32_t site = none;  ///< index into trace::sites; none: spawned where nobody looked
    std::string name;           ///< the site's label, else its function; "unknown" without a site
    std::uint64_t count = 0;
    std::array<std::uint64_t, task_state_count> states{};  ///< by task_state, at the session's end
    std::uint64_t with_losses = 0;                         ///< tasks of which records were lost
    std::uint64_t older = 0;                               ///< tasks older than the session
    time_split time;                        ///< summed over all tasks, within the session
    std::uint64_t spawn_to_wake_count = 0;  ///< tasks whose spawn and first wake are both known
    std::int64_t spawn_to_wake_ns = 0;      ///< summed over those
    percentiles wall;                       ///< of tasks that ended, seen from their first wake on
    optional_ns
        device_ns;  ///< kernels, copies and sets that they asked for; none: nothing ran on devices

    [[nodiscard]] std::uint64_t in_state(task_state state) const {
        return states[static_cast<std::size_t>(state)];
    }
    [[nodiscard]] std::int64_t wall_ns() const { return time.wall_ns(); }
};

/// One entry per spawn site, the largest summed wall time first.
COROSCOPE_API std::vector<task_site_statistics> task_statistics(const trace& loaded);

}  // namespace coroscope::analysis
