// SPDX-License-Identifier: Apache-2.0
#include "stream_dependencies.hpp"

#include <algorithm>
#include <tuple>

namespace coroscope::analysis::inline devices {

index_range stream_dependencies::between(const asked_work& work, std::int64_t from_ns) const {
    const auto& all = loaded_.device_dependencies;
    const auto place = [](const device_dependency& of) {
        return std::tuple(of.context, of.stream, of.time_ns);
    };
    const auto first =
        std::ranges::lower_bound(all, std::tuple(work.context, work.stream, from_ns), {}, place);
    const auto end = std::ranges::lower_bound(
        first, all.end(), std::tuple(work.context, work.stream, work.before_ns), {}, place);
    return {static_cast<std::uint32_t>(first - all.begin()),
            static_cast<std::uint32_t>(end - first)};
}

bool stream_dependencies::follow(std::vector<asked_work>& awaited, std::int64_t time_ns) {
    if (loaded_.device_dependencies.empty()) return true;
    if (awaited.size() >= most_streams) return false;
    std::size_t left = std::min(most_dependencies, budget_);
    // A stream is visited again if a later one of its requests turns out to be awaited.
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < awaited.size(); ++at) open.push_back(at);
    while (!open.empty()) {
        const asked_work work = awaited[open.back()];
        open.pop_back();
        if (work.stream == none) continue;
        // Requests that the stream had reached by `time_ns` no longer waited for other streams.
        const std::int64_t done_ns = streams_.reached_ns(work.context, work.stream, time_ns);
        for (const std::uint32_t each : between(work, done_ns)) {
            if (left == 0) return false;
            --left;
            --budget_;
            const device_dependency& made = loaded_.device_dependencies[each];
            const auto known = std::ranges::find_if(awaited, [&made](const asked_work& other) {
                return other.context == made.awaited_context && other.stream == made.awaited_stream;
            });
            if (known == awaited.end()) {
                if (awaited.size() == most_streams) return false;
                open.push_back(awaited.size());
                awaited.push_back({made.awaited_context, made.awaited_stream, made.recorded_ns});
            } else if (known->before_ns < made.recorded_ns) {
                open.push_back(static_cast<std::size_t>(known - awaited.begin()));
                known->before_ns = made.recorded_ns;
            }
        }
    }
    return true;
}

}  // namespace coroscope::analysis::inline devices
