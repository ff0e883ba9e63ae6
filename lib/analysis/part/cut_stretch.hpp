// SPDX-License-Identifier: Apache-2.0
#pragma once

// Cuts a stretch out of a trace.

#include <coroscope/analysis/model.hpp>

#include "stretch.hpp"

namespace coroscope::analysis::inline part {

/// Removes all that lies outside, clips what crosses a border, and counts the times from the start
/// of the stretch. Sets the counts of trace_health::part.
void cut_stretch(trace& whole, const stretch& to);

}  // namespace coroscope::analysis::inline part
