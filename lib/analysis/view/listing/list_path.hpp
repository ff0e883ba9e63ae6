// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/views.hpp>

namespace coroscope::analysis::inline listings {

/// The rows of list_path(), but with one row for consecutive segments in which a task was on one
/// thread in one scope, such as a scope that often lost its processor. A segment that has a reason
/// keeps its row.
[[nodiscard]] listing list_path_runs(const trace& loaded, const critical_path& path);

}  // namespace coroscope::analysis::inline listings
