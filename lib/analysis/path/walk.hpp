// SPDX-License-Identifier: Apache-2.0
#pragma once

// The backward walk along wakes, awaited tasks, holders and spawns.

#include <coroscope/analysis/critical_path.hpp>

#include "surroundings.hpp"

namespace coroscope::analysis::inline paths {

/// Fills the segments and the waits of a path: from path.end_ns back to path.start_ns, in the task
/// path.task; if that is none, on the thread. Running time is not divided yet: each such segment is
/// a slice, or a part of one. The scopes of segments and waits are not set.
void walk_back(surroundings& around, std::uint32_t thread, critical_path& path);

}  // namespace coroscope::analysis::inline paths
