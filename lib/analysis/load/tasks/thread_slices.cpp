// SPDX-License-Identifier: Apache-2.0
#include "thread_slices.hpp"

#include <algorithm>
#include <iterator>

namespace coroscope::analysis::inline tasks {

slices_of_threads::slices_of_threads(const trace& loaded, const std::vector<bool>& wanted)
    : loaded_(loaded), slices_(loaded.threads.size()) {
    for (std::uint32_t at = 0; at < loaded.slices.size(); ++at) {
        const std::uint32_t thread = loaded.slices[at].thread;
        if (thread < wanted.size() && wanted[thread]) slices_[thread].push_back(at);
    }
    for (std::vector<std::uint32_t>& each : slices_)
        std::ranges::sort(each, {}, [this](std::uint32_t at) { return start_of(at); });
}

std::uint32_t slices_of_threads::task_at(std::uint32_t thread, std::int64_t time_ns) const {
    const std::vector<std::uint32_t>& all = slices_[thread];
    const auto after = std::ranges::upper_bound(all, time_ns, {},
                                                [this](std::uint32_t at) { return start_of(at); });
    if (after == all.begin()) return none;
    const slice& last = loaded_.slices[*std::prev(after)];
    return time_ns < last.end_ns ? last.task : none;
}

}  // namespace coroscope::analysis::inline tasks
