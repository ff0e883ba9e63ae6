// SPDX-License-Identifier: Apache-2.0
#pragma once

// Cuts the scopes of a stretch.

#include <cstdint>
#include <vector>

#include <coroscope/analysis/model.hpp>

#include "stretch.hpp"

namespace coroscope::analysis::inline part {

/// Returns the events that the stretch touches, in the order that they have once they are clipped.
[[nodiscard]] std::vector<std::uint32_t> events_in(const trace& whole, const stretch& to);

/// Clips these events and moves them. The slices and awaits must not have been cut yet. Returns the
/// number of those that cross a border.
std::uint64_t cut_events(trace& whole, const std::vector<std::uint32_t>& kept, const stretch& to);

}  // namespace coroscope::analysis::inline part
