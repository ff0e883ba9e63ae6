// SPDX-License-Identifier: Apache-2.0
#include "thread_occupants.hpp"

#include <algorithm>
#include <tuple>

namespace coroscope::analysis::inline paths {

thread_occupants::thread_occupants(const trace& loaded) : tasks_(loaded.threads.size()) {
    std::vector<std::uint32_t> slices(loaded.slices.size());
    for (std::uint32_t at = 0; at < slices.size(); ++at) slices[at] = at;
    std::ranges::sort(slices, {}, [&](std::uint32_t at) {
        return std::tuple(loaded.slices[at].start_ns, -loaded.slices[at].end_ns, at);
    });
    for (const std::uint32_t at : slices) {
        const slice& run = loaded.slices[at];
        if (run.thread < tasks_.size()) tasks_[run.thread].add(run.task, run.start_ns, run.end_ns);
    }
    for (innermost_intervals& each : tasks_) each.finish();
}

}  // namespace coroscope::analysis::inline paths
