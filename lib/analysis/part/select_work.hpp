// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps the work of a trace that meets conditions.

#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/select_part.hpp>

namespace coroscope::analysis::inline part {

/// Removes all that select_part() does not select. Times do not change.
void select_work(trace& whole, const std::vector<work_condition>& where);

}  // namespace coroscope::analysis::inline part
