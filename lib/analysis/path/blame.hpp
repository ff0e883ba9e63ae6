// SPDX-License-Identifier: Apache-2.0
#pragma once

// The work that explains the queued and the blocked segments of paths.

#include <vector>

#include <coroscope/analysis/critical_path.hpp>

#include "surroundings.hpp"

namespace coroscope::analysis::inline paths {

void add_blame(surroundings& around, std::vector<critical_path>& paths);

}  // namespace coroscope::analysis::inline paths
