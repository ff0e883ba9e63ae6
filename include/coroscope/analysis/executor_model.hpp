// SPDX-License-Identifier: Apache-2.0
#pragma once

// The model's part for executors, which run tasks. model.hpp describes unknown values and
// thread-safety.

#include <cstdint>
#include <string>

#include <coroscope/analysis/index_range.hpp>
#include <coroscope/trace/executor_format.hpp>

namespace coroscope::analysis {

/// One executor.
struct executor_info {
    std::uint32_t number = 0;  ///< in the trace, from 1
    coroscope::trace::executor_kind kind{};
    std::string name;  ///< given by the program; else empty
    std::uint32_t inner =
        none;                ///< the executor that a strand runs on: index into trace::executors
    bool described = false;  ///< false: only records name it
};

}  // namespace coroscope::analysis
