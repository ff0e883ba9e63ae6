// SPDX-License-Identifier: Apache-2.0
#pragma once

// The member "tables" of a page's summary: the listings of the commands, with the evidence of each
// row.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/listing.hpp>

#include "page_input.hpp"

namespace coroscope::analysis::inline pages {

/// The most rows of a table.
inline constexpr std::int64_t most_answer_rows = 2000;

/// Returns {"columns":…,"rows":…,"links":…}. `links[row]` is a JSON object; rows without one have
/// an empty object.
[[nodiscard]] std::string answer_json(listing list, const std::vector<std::string>& links = {});

/// Returns the tables of the scopes alone: the rows of coroscope table.
[[nodiscard]] std::string scope_answer_json(const trace& from);

/// Returns all tables as a JSON object.
[[nodiscard]] std::string answers_json(const page_input& input);

}  // namespace coroscope::analysis::inline pages
