// SPDX-License-Identifier: Apache-2.0
#pragma once

// A listing as part of a larger JSON document.

#include <coroscope/analysis/listing.hpp>

#include "json_writer.hpp"

namespace coroscope::analysis::render {

/// Writes the rows as an array of objects, one line each.
void write_rows(json_writer& json, const listing& list);

}  // namespace coroscope::analysis::render
