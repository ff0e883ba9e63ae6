// SPDX-License-Identifier: Apache-2.0
#pragma once

// A listing as part of a larger view.

#include <string>

#include <coroscope/analysis/listing.hpp>

#include "../../text/json_writer.hpp"
#include "moments.hpp"

namespace coroscope::analysis::inline listings {

/// Writes a listing as text, with its moments in the view's format.
[[nodiscard]] std::string to_text(const listing& list, const listing_options& options,
                                  const moment_format& moments);

/// Writes the rows as an array of objects, one line each.
void write_rows(json_writer& json, const listing& list);

}  // namespace coroscope::analysis::inline listings
