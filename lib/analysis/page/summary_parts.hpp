// SPDX-License-Identifier: Apache-2.0
#pragma once

// The block of a page that its first view needs. docs/contributing/report_data.md describes it.

#include <string>

#include "page_input.hpp"

namespace coroscope::analysis::inline pages {

/// Returns the block as a JSON object.
[[nodiscard]] std::string summary_json(const page_input& input);

/// Returns the member "requests".
[[nodiscard]] std::string request_types_json(const page_input& input);

/// Returns the member "left_out": the parts of the trace that the page does not show.
[[nodiscard]] std::string left_out_json(const page_input& input);

}  // namespace coroscope::analysis::inline pages
