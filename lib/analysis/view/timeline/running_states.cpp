// SPDX-License-Identifier: Apache-2.0
#include "running_states.hpp"

#include <algorithm>

namespace coroscope::analysis::inline timelines {
namespace {

state_times difference(const state_times& to, const state_times& from) {
    return {to.on_cpu_ns - from.on_cpu_ns, to.blocked_ns - from.blocked_ns,
            to.preempted_ns - from.preempted_ns, to.unknown_ns - from.unknown_ns};
}

/// The first slice from `first` to `end` for which `is_later` is true. It must be false up to some
/// slice, and true from there on.
template <class IsLater>
std::uint32_t first_slice(std::uint32_t first, std::uint32_t end, const IsLater& is_later) {
    while (first < end) {
        const std::uint32_t middle = first + (end - first) / 2;
        if (is_later(middle))
            end = middle;
        else
            first = middle + 1;
    }
    return first;
}

}  // namespace

running_states::running_states(const trace& from) : from_(from) {
    before_.reserve(from.slices.size() + 1);
    state_times sums;
    for (const slice& each : from.slices) {
        before_.push_back(sums);
        sums.add(from.states.between(each.thread, each.start_ns, each.end_ns));
    }
    before_.push_back(sums);
}

state_times running_states::of_slices(std::uint32_t first, std::uint32_t last) const {
    const std::size_t end = std::min<std::size_t>(std::size_t{last} + 1, from_.slices.size());
    return first < end ? difference(before_[end], before_[first]) : state_times{};
}

index_range running_states::slices_of(std::uint32_t task, std::int64_t from_ns,
                                      std::int64_t to_ns) const {
    if (task >= from_.tasks.size() || from_.tasks[task].slices.empty()) return {};
    const index_range& all = from_.tasks[task].slices;
    const auto count = static_cast<std::uint32_t>(from_.slices.size());
    if (all.front() >= count) return {};
    const std::uint32_t end = std::min(all.back(), count - 1) + 1;
    const std::uint32_t first = first_slice(
        all.front(), end, [&](std::uint32_t at) { return from_.slices[at].end_ns > from_ns; });
    const std::uint32_t behind = first_slice(
        first, end, [&](std::uint32_t at) { return from_.slices[at].start_ns >= to_ns; });
    return {first, behind - first};
}

state_times running_states::of_task(std::uint32_t task, std::int64_t from_ns,
                                    std::int64_t to_ns) const {
    const index_range slices = slices_of(task, from_ns, to_ns);
    if (slices.empty()) return {};
    state_times times = of_part(slices.front(), from_ns, to_ns);
    if (slices.size() == 1) return times;
    times.add(of_part(slices.back(), from_ns, to_ns));
    if (slices.size() > 2) times.add(of_slices(slices.front() + 1, slices.back() - 1));
    return times;
}

state_times running_states::of_part(std::uint32_t slice, std::int64_t from_ns,
                                    std::int64_t to_ns) const {
    const analysis::slice& run = from_.slices[slice];
    return from_.states.between(run.thread, std::max(run.start_ns, from_ns),
                                std::min(run.end_ns, to_ns));
}

}  // namespace coroscope::analysis::inline timelines
