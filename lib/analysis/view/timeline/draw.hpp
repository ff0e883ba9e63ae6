// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroscope/analysis/chrome_totals.hpp>
#include <coroscope/analysis/model.hpp>

#include "canvas.hpp"

namespace coroscope::analysis::inline timelines {

/// Draws the whole trace, or until the canvas fails.
chrome_totals draw(const trace& from, canvas& on);

}  // namespace coroscope::analysis::inline timelines
