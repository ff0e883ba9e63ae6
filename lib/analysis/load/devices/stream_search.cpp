// SPDX-License-Identifier: Apache-2.0
#include "stream_search.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace coroscope::analysis::inline devices {
namespace {

constexpr std::int64_t before_all = std::numeric_limits<std::int64_t>::min();

/// Returns the first position for which the predicate is false.
template <class Predicate>
std::size_t partition(std::size_t first, std::size_t end, Predicate holds) {
    while (first < end) {
        const std::size_t middle = first + (end - first) / 2;
        if (holds(middle))
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

index_range positions(std::size_t first, std::size_t end) {
    return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first)};
}

}  // namespace

stream_search::stream_search(const trace& loaded)
    : loaded_(loaded),
      latest_end_ns_(loaded.stream_order.size()),
      latest_asked_ns_(loaded.stream_order.size()),
      least_asked_ns_(loaded.stream_order.size()) {
    for (std::size_t at = 0; at < latest_end_ns_.size(); ++at) {
        const bool goes_on = !begins_stream(at);
        const std::int64_t end_ns = activity(at).end_ns;
        latest_end_ns_[at] = goes_on ? std::max(end_ns, latest_end_ns_[at - 1]) : end_ns;
        latest_asked_ns_[at] =
            goes_on ? std::max(asked_ns(at), latest_asked_ns_[at - 1]) : asked_ns(at);
    }
    for (std::size_t at = least_asked_ns_.size(); at-- > 0;) {
        const bool is_last = at + 1 == least_asked_ns_.size() || begins_stream(at + 1);
        least_asked_ns_[at] =
            is_last ? asked_ns(at) : std::min(asked_ns(at), least_asked_ns_[at + 1]);
    }
}

bool stream_search::begins_stream(std::size_t at) const {
    if (at == 0) return true;
    const device_activity &here = activity(at), &before = activity(at - 1);
    return here.context != before.context || here.stream != before.stream;
}

/// Returns the start of the activity's call, or `before_all` if it is unknown.
std::int64_t stream_search::asked_ns(std::size_t at) const {
    const std::uint32_t call = activity(at).call;
    return call == none ? before_all : loaded_.device_activities[call].start_ns;
}

index_range stream_search::all_of(std::uint32_t context, std::uint32_t stream) const {
    const auto place = [this](std::size_t at) {
        return std::tuple(activity(at).context, activity(at).stream);
    };
    const std::tuple sought(context, stream);
    const std::size_t all = loaded_.stream_order.size();
    const std::size_t first = partition(0, all, [&](std::size_t at) { return place(at) < sought; });
    return positions(first,
                     partition(first, all, [&](std::size_t at) { return place(at) == sought; }));
}

index_range stream_search::find(const asked_work& work, std::int64_t from_ns,
                                std::int64_t until_ns) const {
    const index_range all = all_of(work.context, work.stream);
    if (all.empty()) return {};
    std::size_t first = all.front(), end = first + all.size();
    first = partition(first, end, [&](std::size_t at) { return latest_end_ns_[at] <= from_ns; });
    end = partition(first, end, [&](std::size_t at) {
        return activity(at).start_ns < until_ns && least_asked_ns_[at] < work.before_ns;
    });
    return positions(first, end);
}

std::int64_t stream_search::reached_ns(std::uint32_t context, std::uint32_t stream,
                                       std::int64_t time_ns) const {
    const index_range all = all_of(context, stream);
    if (all.empty()) return before_all;
    const std::size_t first = all.front();
    const std::size_t after = partition(first, first + all.size(), [&](std::size_t at) {
        return activity(at).start_ns <= time_ns;
    });
    return after == first ? before_all : latest_asked_ns_[after - 1];
}

}  // namespace coroscope::analysis::inline devices
