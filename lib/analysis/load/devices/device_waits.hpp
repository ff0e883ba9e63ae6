// SPDX-License-Identifier: Apache-2.0
#pragma once

// Links waits for a stream to their suspensions, and to the stream's work during these.

#include <span>

#include "../records/task_records.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline devices {

/// Fills trace::stream_order, fills in the references of trace::device_waits, and sorts the waits.
/// Only work that was requested from the stream before the wait counts. The activities must be in
/// order and linked to their calls. The waits must be linked to their tasks.
void link_device_waits(trace& loaded);

}  // namespace coroscope::analysis::inline devices
