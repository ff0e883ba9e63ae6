// SPDX-License-Identifier: Apache-2.0
#include "blocked_calls.hpp"

#include <algorithm>

namespace coroscope::analysis::inline paths {

std::int64_t blocked_calls::without_lock(std::uint32_t thread, std::int64_t from_ns,
                                         std::int64_t to_ns) const {
    std::int64_t sum_ns = 0;
    std::int64_t counted_ns = from_ns;
    for (const blocked_look& look : loaded_.states.looks_at(thread, from_ns, to_ns)) {
        const state_stretch around = loaded_.states.around(thread, look.time_ns);
        if (calls_.may_wait_for_lock(look) || around.state != thread_state::blocked) continue;
        const std::int64_t end_ns = std::min(around.end_ns, to_ns);
        sum_ns += std::max<std::int64_t>(0, end_ns - std::max(around.start_ns, counted_ns));
        counted_ns = std::max(counted_ns, end_ns);
    }
    return sum_ns;
}

}  // namespace coroscope::analysis::inline paths
