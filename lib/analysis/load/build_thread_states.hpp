// SPDX-License-Identifier: Apache-2.0
#pragma once

// From the kernel's records to the model's thread_states.

#include <coroscope/analysis/model.hpp>
#include <coroscope/trace/reader.hpp>

#include "records/clock_map.hpp"
#include "records/metadata.hpp"
#include "records/task_records.hpp"

namespace coroscope::analysis::inline loading {

/// Fills trace::states. Precondition: all other parts of the model are complete, because they show
/// how long each thread existed.
void build_thread_states(const coroscope::trace::reader& input, const task_records& records,
                         const metadata& names, clock_map& clock, trace& loaded);

}  // namespace coroscope::analysis::inline loading
