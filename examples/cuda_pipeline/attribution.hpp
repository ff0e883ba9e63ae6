// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compares a trace with the pipeline's own record: the request of each kernel, from the order on
// its stream.

#include <cstdint>
#include <string>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/integration/cuda.hpp>

#include "pipeline.hpp"

namespace cuda_pipeline {

struct attribution {
    std::uint64_t kernels = 0;
    std::uint64_t wrong = 0;            ///< attributed to a wrong request or to none
    std::uint64_t missing = 0;          ///< launched and not in the trace
    std::uint64_t with_queue_time = 0;  ///< kernels whose queue times CUPTI reported
    std::int64_t device_time_ns = 0;    ///< in the trace: of kernels, copies and sets
    std::vector<std::string> problems;  ///< the first few, a line each
    bool good() const { return wrong == 0 && missing == 0 && problems.empty(); }
};

attribution check_attribution(const coroscope::analysis::trace& loaded, const workload& of,
                              const std::vector<stream_history>& histories);

/// Returns whether the device time of the trace agrees with CUPTI's. The trace's clock is dated
/// apart from the clock that CUPTI was given: each activity's ends are rounded, and the rates may
/// differ by a few hundred-thousandths.
bool times_agree(const attribution& found, const coroscope::cuda::recorded_work& told);

}  // namespace cuda_pipeline
