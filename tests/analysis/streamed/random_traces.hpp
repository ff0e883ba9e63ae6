// SPDX-License-Identifier: Apache-2.0
#pragma once

// Random traces of scopes and tasks, for tests that compare two ways of reading one trace. Times
// are small numbers, so that scopes are often empty and often begin or end together.

#include <cstdint>

#include "../../support/trace_builder.hpp"

namespace coroscope::test {

/// The parts of a random trace.
struct random_parts {
    bool tasks = false;       ///< tasks that run on several threads
    bool hand_overs = false;  ///< tasks that run on top of others, in the middle of a scope
    bool in_frame = false;    ///< scopes in frames of tasks
    bool states = false;      ///< the kernel's facts about threads
    bool damage = false;      ///< scopes that overlap without nesting
};

/// The same number gives the same trace.
trace_builder random_trace(std::uint32_t number, const random_parts& parts);

}  // namespace coroscope::test
