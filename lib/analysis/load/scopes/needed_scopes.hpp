// SPDX-License-Identifier: Apache-2.0
#pragma once

// Chooses the stack scopes that become events if only those around awaits are loaded. The choice
// leaves the scopes of awaits, and their parents, as they are among all scopes.

#include <vector>

#include "../records/clock_map.hpp"
#include "../records/metadata.hpp"
#include "../records/task_records.hpp"
#include "../tasks/timeline.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline scopes {

/// Fills thread_stream::stack_scopes of each stream, and thread_info::scopes_left_out. Chooses all
/// scopes if another part of the model needs all. Works on up to `jobs` threads.
///
/// Precondition: the positions were left out when the records were read, and the tasks and awaits
/// of `loaded` are complete.
void find_needed_scopes(task_records& records, const std::vector<timeline>& timelines,
                        const clock_map& clock, unsigned jobs, metadata& names, trace& loaded);

}  // namespace coroscope::analysis::inline scopes
