// SPDX-License-Identifier: Apache-2.0
#pragma once

// Brings the items of streams together with the ranges that yielded them.

#include <vector>

#include "../scopes/scope_records.hpp"
#include "../scopes/scope_texts.hpp"
#include "../tasks/thread_timeline.hpp"

namespace coroscope::analysis::inline devices {

/// Fills loaded.streams and loaded.stream_items. All scopes must have been read. Leaves out items
/// of a range whose label was lost, and adds a warning.
void read_streams(const scope_texts& texts, const std::vector<timeline>& timelines,
                  const scope_context& context);

}  // namespace coroscope::analysis::inline devices
