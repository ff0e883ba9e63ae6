// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the marked requests among the scopes, ranges and tasks, and the scopes of values.

#include "records/metadata.hpp"
#include "records/task_records.hpp"
#include "scopes/scope_texts.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline loading {

/// Fills trace::requests, and completes and sorts trace::values. The events and the tasks of
/// `loaded` must be complete.
void link_requests(const task_records& records, const scope_texts& texts, metadata& names,
                   trace& loaded);

}  // namespace coroscope::analysis::inline loading
