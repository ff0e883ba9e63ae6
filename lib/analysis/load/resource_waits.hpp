// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names the tasks, the threads and the scopes of waits for resources, when all of these are known.

#include "records/metadata.hpp"
#include "records/task_records.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline loading {

/// Completes trace::resource_waits and brings them into the model's order.
void link_resource_waits(const task_records& records, const metadata& names, trace& loaded);

}  // namespace coroscope::analysis::inline loading
