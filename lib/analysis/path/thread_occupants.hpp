// SPDX-License-Identifier: Apache-2.0
#pragma once

// The task that ran on each thread at each moment.

#include <cstdint>
#include <vector>

#include "../answer/innermost.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline paths {

class thread_occupants {
public:
    /// Reads every slice.
    explicit thread_occupants(const trace& loaded);

    /// The tasks, as indices into trace::tasks. `thread` must be an index into trace::threads.
    [[nodiscard]] const innermost_intervals& on(std::uint32_t thread) const {
        return tasks_[thread];
    }

private:
    std::vector<innermost_intervals> tasks_;  // by thread
};

}  // namespace coroscope::analysis::inline paths
