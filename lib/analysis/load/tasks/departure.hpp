// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "timeline.hpp"

namespace coroscope::analysis::inline tasks {

/// A task that was suspended or ended on a thread. The thread may still be in its await_suspend.
struct departure {
    std::uint32_t task = none;
    std::size_t depth = 0;  ///< the number of frames that were below it
    bool finished = false;
    std::size_t slices_run = 0;  ///< the number of slices that had begun on the thread
};

}  // namespace coroscope::analysis::inline tasks
