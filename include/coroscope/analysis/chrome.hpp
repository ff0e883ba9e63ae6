// SPDX-License-Identifier: Apache-2.0
#pragma once

// Export to Chrome's JSON trace format, which Perfetto, DevTools, speedscope and others open.
//
// Two processes stand in the file. The first holds the threads: on-stack scopes and the slices of
// tasks. The second holds the tasks, each on a lane of its spawn site from its first wake to its
// end, with its in-frame scopes inside, and innermost its awaits and the times it was queued; lanes
// are used again by later tasks. Arrows lead from a spawn and from a wake to the slice that
// followed. Behind these two each device is a process, with a lane per stream; arrows lead from a
// call to what it asked for, and from the last thing that a task waited for to the slice in which it
// went on. What does not nest on its lane goes to a lane beside it: two complete events never
// overlap on one lane.
//
// The writer streams: it holds a buffer of 1 MiB and, beside the loaded trace, a few dozen
// bytes per task, slice and device activity.

#include <cstdint>
#include <functional>
#include <string_view>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Takes the next bytes of an export; false means that they could not be written, which ends it.
using byte_sink = std::function<bool(std::string_view)>;

/// What an export wrote.
struct chrome_totals {
    std::uint64_t scopes = 0;
    std::uint64_t slices = 0;
    std::uint64_t tasks = 0;
    std::uint64_t awaits = 0;
    std::uint64_t device_activities = 0;
    std::uint64_t flows = 0;
    std::uint64_t left_out = 0;  ///< overlapped more than the lanes beside could take
};

/// Writes the whole trace. Fails where the sink does.
[[nodiscard]] COROSCOPE_API result<chrome_totals> export_chrome(const trace& from,
                                                                const byte_sink& sink);

}  // namespace coroscope::analysis
