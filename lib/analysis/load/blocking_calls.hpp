// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "records/task_records.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline loading {

/// Names the tasks and scopes of trace::blocking_calls, and brings the calls into the model's
/// order. Must be called when the events are complete.
void link_blocking_calls(const task_records& records, trace& loaded);

}  // namespace coroscope::analysis::inline loading
