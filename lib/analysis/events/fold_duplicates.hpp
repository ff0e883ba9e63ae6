// SPDX-License-Identifier: Apache-2.0
#pragma once

// Torch sometimes records one call as two nested rows of the same name. The outer row then takes
// over the inner row. In other traces such rows mean recursion, and are kept.

#include <cstdint>
#include <vector>

#include <coroscope/analysis/event_list.hpp>

namespace coroscope::analysis::inline events {

/// Returns for each row the row that took it over, or itself if it stays. Sets parents to rows that
/// stay.
[[nodiscard]] std::vector<std::uint32_t> fold_duplicates(event_list& list);

/// Returns the number of rows that another row took over.
[[nodiscard]] std::uint64_t count_folded(const std::vector<std::uint32_t>& kept_as);

/// Removes the rows that another row took over.
void drop_folded(event_list& list, const std::vector<std::uint32_t>& kept_as);

}  // namespace coroscope::analysis::inline events
