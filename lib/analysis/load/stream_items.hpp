// SPDX-License-Identifier: Apache-2.0
#pragma once

// Brings the items of streams together with the ranges that yielded them.

#include <vector>

#include "scope_records.hpp"
#include "scope_texts.hpp"
#include "thread_timeline.hpp"

namespace coroscope::analysis::loading {

/// Fills loaded.streams and loaded.stream_items. To be called when all scopes have been read. Items of a
/// range whose label was lost are left out, with a warning.
void read_streams(const scope_texts& texts, const std::vector<timeline>& timelines,
                  const scope_context& context);

}  // namespace coroscope::analysis::loading
