// SPDX-License-Identifier: Apache-2.0
#pragma once

// The coroutines of coroutines.hpp as they are without the profiler.

#include "harness.hpp"

namespace bench {

struct coroutine_bursts {
    burst steps;
    burst hand_overs;
    burst eager_tasks;
    burst lazy_tasks;
    burst foreign_tasks;
};

extern const coroutine_bursts plain_coroutines;    ///< without clock reads
extern const coroutine_bursts reading_coroutines;  ///< a clock read at each moment of the subject

}  // namespace bench
