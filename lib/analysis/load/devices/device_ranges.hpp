// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranges that end when a device's stream reaches a point, and the work that they requested from
// that stream.

#include <vector>

#include "../scopes/scope_records.hpp"
#include "../scopes/scope_texts.hpp"
#include "../tasks/thread_timeline.hpp"

namespace coroscope::analysis::inline devices {

/// Fills trace::device_ranges, without their events and their work. All scopes must have been read.
/// Leaves out ranges whose label was lost, and adds a warning.
void read_device_ranges(const scope_texts& texts, const std::vector<timeline>& timelines,
                        const scope_context& context);

/// Adds the ranges' events and their work. trace::events and trace::stream_order must be complete,
/// and the calls of activities must be filled in.
void link_device_ranges(trace& loaded);

}  // namespace coroscope::analysis::inline devices
