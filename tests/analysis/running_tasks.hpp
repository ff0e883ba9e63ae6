// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "loading.hpp"

namespace coroscope::test {

/// The running time of all tasks. On one thread it is at most the duration of the session.
inline std::int64_t running_ns(const analysis::trace& loaded) {
    std::int64_t sum = 0;
    for (const analysis::task_info& each : loaded.tasks) sum += each.time.running_ns;
    return sum;
}

/// The id of a task, 0 if there is none.
inline std::uint64_t id_of(const analysis::trace& loaded, std::uint32_t task) {
    return task == analysis::none ? 0 : loaded.tasks[task].id;
}

}  // namespace coroscope::test
