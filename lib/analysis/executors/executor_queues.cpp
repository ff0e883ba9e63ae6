// SPDX-License-Identifier: Apache-2.0

// The lengths of executors' queues over time.

#include "executor_queues.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include <coroscope/analysis/saturated.hpp>

namespace coroscope::analysis {

std::vector<queue_step> executor_answers::steps_of(const std::vector<queued_job>& jobs) {
    std::vector<std::pair<std::int64_t, int>> edges;
    edges.reserve(2 * jobs.size());
    for (const queued_job& each : jobs) {
        if (each.to_ns <= each.from_ns) continue;
        edges.emplace_back(each.from_ns, 1);
        edges.emplace_back(each.to_ns, -1);
    }
    std::ranges::sort(edges);
    std::vector<queue_step> steps;
    std::uint64_t length = 0;
    for (std::size_t at = 0; at < edges.size();) {
        const std::int64_t time_ns = edges[at].first;
        const std::uint64_t before = length;
        for (; at < edges.size() && edges[at].first == time_ns; ++at)
            edges[at].second > 0 ? ++length : --length;
        if (length != before) steps.push_back({time_ns, length});
    }
    return steps;
}

void executor_answers::measure_queue(const std::vector<queue_step>& steps,
                                     executor_statistics& into) {
    std::map<std::uint64_t, std::int64_t> times_ns;  // by length
    std::int64_t queued_ns = 0;
    for (std::size_t at = 0; at + 1 < steps.size(); ++at) {
        const std::int64_t length_ns = steps[at + 1].time_ns - steps[at].time_ns;
        if (steps[at].length == 0) continue;
        add_to(times_ns[steps[at].length], length_ns);
        add_to(queued_ns, length_ns);
        into.max_length = std::max(into.max_length, steps[at].length);
    }
    times_ns[0] = std::max<std::int64_t>(0, into.span_ns - queued_ns);
    double area = 0;
    std::int64_t longer_ns = into.span_ns;
    bool found = false;
    for (const auto& [length, time_ns] : times_ns) {
        area += static_cast<double>(length) * static_cast<double>(time_ns);
        longer_ns -= time_ns;
        if (!found && longer_ns <= into.span_ns / 100) {
            into.p99_length = length;
            found = true;
        }
    }
    if (into.span_ns > 0)
        into.mean_length_hundredths = std::llround(area * 100 / static_cast<double>(into.span_ns));
}

std::vector<std::vector<queue_step>> queue_lengths(const trace& loaded) {
    std::vector<std::vector<queued_job>> jobs(loaded.executors.size());
    for (const queued_job& each : find_queued_jobs(loaded)) jobs[each.executor].push_back(each);
    std::vector<std::vector<queue_step>> found;
    found.reserve(jobs.size());
    for (const std::vector<queued_job>& each : jobs) found.push_back(steps_of(each));
    return found;
}

}  // namespace coroscope::analysis
