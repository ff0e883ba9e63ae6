// SPDX-License-Identifier: Apache-2.0
#pragma once

// The features of a session that need help of the program: it must call or link something. Without
// that a session has no data of them.

#include <cstdint>

#include <coroscope/trace/file_header.hpp>

#include "environment_variables.hpp"

namespace coroscope::trace {

struct program_feature {
    session_features feature;
    variable asked_by;       ///< its row has the name of the feature
    const char* without_it;  ///< what is missing, and the remedy
};

inline constexpr program_feature program_features[] = {
    {feature_arguments, variable::arguments, "no scope has any; begin scopes with COROSCOPE_ARGS"},
    {feature_shapes, variable::shapes, "no scope has arguments; begin scopes with COROSCOPE_ARGS"},
    {feature_flops, variable::flops, "no scope has arguments; begin scopes with COROSCOPE_ARGS"},
    {feature_memory, variable::memory,
     "no allocation was reported; link coroscope-memory-hook, or use coroscope::memory_resource"},
    {feature_modules, variable::modules, "no module was entered; use coroscope::module_guard"},
};

constexpr std::uint64_t all_program_features() noexcept {
    std::uint64_t all = 0;
    for (const program_feature& each : program_features) all |= each.feature;
    return all;
}

}  // namespace coroscope::trace
