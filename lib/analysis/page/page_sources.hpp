// SPDX-License-Identifier: Apache-2.0
#pragma once

// The lines of sources that a page quotes beside the places of a trace.
//
// A trace may come from elsewhere, and names any file. So only files that look like C++ sources and
// lie below a folder that the user named, or below the working folder, are read.

#include <string>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/report.hpp>

namespace coroscope::analysis::inline pages {

/// Returns the member "sources" of the summary.
[[nodiscard]] std::string sources_json(const trace& from, const report_options& options);

}  // namespace coroscope::analysis::inline pages
