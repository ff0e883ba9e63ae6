// SPDX-License-Identifier: Apache-2.0
#include "attribution.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <utility>

namespace cuda_pipeline {
namespace {

using coroscope::analysis::device_activity;
using coroscope::analysis::none;
using coroscope::analysis::trace;
using kind = coroscope::trace::device_activity;
using stream_key = std::pair<std::uint32_t, std::uint32_t>;  // context, stream

constexpr std::uint64_t no_request = ~std::uint64_t{0};
constexpr std::size_t shown_problems = 5;

std::uint64_t request_of(const trace& loaded, const device_activity& kernel) {
    if (kernel.task == none) return no_request;
    const std::uint32_t text = coroscope::analysis::attribute_value(
        loaded, loaded.tasks[kernel.task].attribute, "request");
    if (text == none) return no_request;
    const std::string& digits = loaded.strings[text];
    std::uint64_t number = no_request;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
}

// The streams of the trace, found by the size of the first set on each.
std::map<std::int64_t, stream_key> find_streams(const trace& loaded) {
    std::map<std::int64_t, stream_key> found;
    for (const device_activity& each : loaded.device_activities)
        if (each.what == kind::set) found.try_emplace(each.bytes, each.context, each.stream);
    return found;
}

std::map<stream_key, std::vector<const device_activity*>> kernels_by_stream(const trace& loaded) {
    std::map<stream_key, std::vector<const device_activity*>> found;
    for (const device_activity& each : loaded.device_activities)
        if (each.what == kind::kernel) found[{each.context, each.stream}].push_back(&each);
    return found;
}

void note(attribution& result, std::string problem) {
    if (result.problems.size() < shown_problems) result.problems.push_back(std::move(problem));
}

void check_stream(attribution& result, const trace& loaded, const workload& of,
                  const stream_history& history,
                  const std::vector<const device_activity*>& kernels) {
    const std::uint64_t launched = history.requests.size() * of.launches_per_request;
    const auto seen = static_cast<std::uint64_t>(kernels.size());
    result.missing += launched - std::min(launched, seen);
    result.wrong += seen - std::min(launched, seen);
    for (std::uint64_t at = 0; at < std::min(launched, seen); ++at) {
        const std::uint64_t expected = history.requests[at / of.launches_per_request];
        const std::uint64_t found = request_of(loaded, *kernels[at]);
        if (found == expected) continue;
        ++result.wrong;
        note(result, "kernel " + std::to_string(at) + " of a stream is of request " +
                         (found == no_request ? "none" : std::to_string(found)) + ", not " +
                         std::to_string(expected));
    }
}

}  // namespace

attribution check_attribution(const trace& loaded, const workload& of,
                              const std::vector<stream_history>& histories) {
    attribution result;
    for (const device_activity& each : loaded.device_activities) {
        result.kernels += each.what == kind::kernel ? 1U : 0U;
        result.with_queue_time += each.queued_ns.has_value() ? 1U : 0U;
        if (coroscope::analysis::is_device_work(each.what))
            result.device_time_ns += each.end_ns - each.start_ns;
    }
    const auto streams = find_streams(loaded);
    const auto kernels = kernels_by_stream(loaded);
    for (const stream_history& history : histories) {
        const auto stream = streams.find(static_cast<std::int64_t>(history.mark_bytes));
        const auto found = stream == streams.end() ? kernels.end() : kernels.find(stream->second);
        if (found == kernels.end() && !history.requests.empty())
            note(result, "the stream that set " + std::to_string(history.mark_bytes) +
                             " bytes has no kernel in the trace");
        check_stream(result, loaded, of, history,
                     found == kernels.end() ? std::vector<const device_activity*>()
                                            : found->second);
    }
    return result;
}

bool times_agree(const attribution& found, const coroscope::cuda::recorded_work& told) {
    const auto sum_ns = static_cast<std::int64_t>(told.device_time_ns);
    const auto allowed_ns = static_cast<std::int64_t>(2 * told.activities) + sum_ns / 10'000;
    return std::abs(found.device_time_ns - sum_ns) <= allowed_ns;
}

}  // namespace cuda_pipeline
