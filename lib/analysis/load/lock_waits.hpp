// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the tasks, the threads and the scopes of waits for locks.

#include "records/clock_map.hpp"
#include "records/metadata.hpp"
#include "records/task_records.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline loading {

/// Completes trace::lock_waits and sorts them in the model's order. The slices and the events of
/// `loaded` must be complete.
void link_lock_waits(const task_records& records, const metadata& names, clock_map& clock,
                     trace& loaded);

}  // namespace coroscope::analysis::inline loading
