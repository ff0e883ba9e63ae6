// SPDX-License-Identifier: Apache-2.0
#pragma once

// Databases of Nsight Systems: NVTX ranges, calls of the CUDA runtime and driver, kernels, copies
// and sets.
//
// Ranges nest among themselves on their thread, as push and pop do; calls have a lane of their own
// beside it, as Nsight's view shows them. Ranges that were started and ended by handle are
// asynchronous. A kernel belongs to the innermost range of the thread that launched it around the
// launch. Rows of the runtime's table may share a correlation id (a call, and the call below it);
// the work that they launched is counted once.

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/result.hpp>

#include "../sqlite_database.hpp"

namespace coroscope::analysis::inline databases {

[[nodiscard]] bool is_nsight(sqlite_database& database);
[[nodiscard]] result<event_list> nsight_events(sqlite_database& database);

}  // namespace coroscope::analysis::inline databases
