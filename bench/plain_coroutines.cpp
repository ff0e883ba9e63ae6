// SPDX-License-Identifier: Apache-2.0

// Compiles the coroutines of coroutines.hpp without the profiler. Their times are the floors of the
// await and task rows.

#define COROSCOPE_ENABLED 0
#include "coroutines.hpp"

#include "plain_coroutines.hpp"

namespace bench {

const coroutine_bursts plain_coroutines{steps<false>, hand_overs<false>, eager_tasks<false>,
                                        lazy_tasks<false>, foreign_tasks<false>};
const coroutine_bursts reading_coroutines{steps<true>, hand_overs<true>, eager_tasks<true>,
                                          lazy_tasks<true>, foreign_tasks<true>};

}  // namespace bench
