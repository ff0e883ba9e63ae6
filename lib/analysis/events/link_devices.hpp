// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <coroscope/analysis/event_list.hpp>

namespace coroscope::analysis::inline events {

/// Sets the parent of each device event to the row that launched it. `kept_as`: the result of
/// fold_duplicates().
void link_devices(event_list& list, const std::vector<std::uint32_t>& kept_as);

}  // namespace coroscope::analysis::inline events
