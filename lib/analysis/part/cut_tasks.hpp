// SPDX-License-Identifier: Apache-2.0
#pragma once

// Cuts the tasks of a stretch, their slices and their awaits.

#include <cstdint>

#include <coroscope/analysis/model.hpp>

#include "kept_rows.hpp"
#include "stretch.hpp"

namespace coroscope::analysis::inline part {

/// Keeps the tasks that live in the stretch, with their slices and awaits in it.
void keep_tasks_in(const trace& whole, const stretch& to, kept_rows& kept);

/// Clips and moves them. Returns the number of tasks whose wall time crosses a border.
std::uint64_t cut_tasks(trace& whole, const stretch& to, const kept_rows& kept);

}  // namespace coroscope::analysis::inline part
