// SPDX-License-Identifier: Apache-2.0
#pragma once

// The division of paths' running time by scope and by the state of the thread.

#include <vector>

#include <coroscope/analysis/critical_path.hpp>

namespace coroscope::analysis::inline paths {

/// Divides running segments, and gives each segment the task's innermost scope at its time. A
/// segment without a thread is not divided: it gets the scope at its start, as do waits.
void divide(const trace& loaded, std::vector<critical_path>& paths);

}  // namespace coroscope::analysis::inline paths
