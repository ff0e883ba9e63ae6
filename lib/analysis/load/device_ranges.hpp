// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranges that ended where a device's stream came to: which they are, and what they asked that stream to do.

#include <vector>

#include "scope_records.hpp"
#include "scope_texts.hpp"
#include "thread_timeline.hpp"

namespace coroscope::analysis::loading {

/// Fills trace::device_ranges, without their events and their work. To be called when all scopes have been read. Those whose
/// label was lost are left out, with a warning.
void read_device_ranges(const scope_texts& texts, const std::vector<timeline>& timelines,
                        const scope_context& context);

/// Adds events and work, when trace::events and trace::stream_order are complete and activities know their calls.
void link_device_ranges(trace& loaded);

}  // namespace coroscope::analysis::loading
