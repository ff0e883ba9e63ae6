// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/thread_states.hpp>

#include <algorithm>

namespace coroscope::analysis {
namespace {

const thread_history* history_of(const thread_states& states, std::uint32_t thread) {
    if (thread >= states.histories.size() || states.histories[thread].points.size() < 2)
        return nullptr;
    return &states.histories[thread];
}

/// The piece of a moment: the last point that is not later, or nullptr if the moment is before all.
/// Looks in ever larger steps from the point `near` on.
const state_point* piece_at(const thread_history& history, std::int64_t moment_ns,
                            std::size_t near = 0) {
    const std::vector<state_point>& points = history.points;
    std::size_t first = near < points.size() && points[near].time_ns <= moment_ns ? near : 0;
    std::size_t end = points.size();
    for (std::size_t step = 1; first + step < end; step *= 2) {
        if (points[first + step].time_ns > moment_ns) {
            end = first + step;
            break;
        }
        first += step;
    }
    const auto begin = points.begin();
    const auto after = std::upper_bound(
        begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(end),
        moment_ns,
        [](std::int64_t moment, const state_point& next) { return moment < next.time_ns; });
    return after == begin ? nullptr : &*std::prev(after);
}

/// The known sums of the time before a moment. If only sums are known of the moment's piece, those
/// of the part before the moment are unknown, and left out.
state_times sums_before(const state_point& piece, std::int64_t moment_ns) {
    state_times sums{piece.on_cpu_ns, piece.blocked_ns, piece.preempted_ns, 0};
    const std::int64_t passed_ns = moment_ns - piece.time_ns;
    if (piece.state == thread_state::on_cpu) sums.on_cpu_ns += passed_ns;
    if (piece.state == thread_state::blocked) sums.blocked_ns += passed_ns;
    if (piece.state == thread_state::preempted) sums.preempted_ns += passed_ns;
    return sums;
}

/// The first moment from `moment_ns` on that does not divide a piece of unknown state. The piece
/// must not be the last point.
std::int64_t next_divisible(const state_point& piece, std::int64_t moment_ns) {
    const bool divides = piece.state == thread_state::unknown && moment_ns > piece.time_ns;
    return divides ? (&piece + 1)->time_ns : moment_ns;
}

state_times difference(const state_times& to, const state_times& from) {
    return {to.on_cpu_ns - from.on_cpu_ns, to.blocked_ns - from.blocked_ns,
            to.preempted_ns - from.preempted_ns, 0};
}

void append(std::vector<state_stretch>& stretches, const state_stretch& added) {
    if (added.end_ns <= added.start_ns) return;
    if (!stretches.empty() && stretches.back().state == added.state)
        stretches.back().end_ns = added.end_ns;
    else
        stretches.push_back(added);
}

}  // namespace

state_times thread_states::between(std::uint32_t thread, std::int64_t from_ns,
                                   std::int64_t to_ns) const {
    std::size_t near = 0;
    return between(thread, from_ns, to_ns, near);
}

state_times thread_states::between(std::uint32_t thread, std::int64_t from_ns, std::int64_t to_ns,
                                   std::size_t& near) const {
    state_times times;
    if (to_ns <= from_ns) return times;
    times.unknown_ns = saturated_difference(to_ns, from_ns);
    const thread_history* history = history_of(*this, thread);
    if (history == nullptr) return times;
    const std::int64_t last_ns = std::min(to_ns, history->points.back().time_ns);
    std::int64_t first_ns = std::max(from_ns, history->points.front().time_ns);
    if (last_ns <= first_ns) return times;
    const state_point* first = piece_at(*history, first_ns, near);
    near = static_cast<std::size_t>(first - history->points.data());
    const std::int64_t divisible_ns = next_divisible(*first, first_ns);
    if (divisible_ns != first_ns) ++first;
    first_ns = divisible_ns;
    if (last_ns <= first_ns) return times;
    const state_times known = difference(sums_before(*piece_at(*history, last_ns, near), last_ns),
                                         sums_before(*first, first_ns));
    times.add(known);
    times.unknown_ns -= known.known_ns();
    return times;
}

std::vector<state_stretch> thread_states::stretches(std::uint32_t thread, std::int64_t from_ns,
                                                    std::int64_t to_ns) const {
    std::vector<state_stretch> found;
    if (to_ns <= from_ns) return found;
    const thread_history* history = history_of(*this, thread);
    if (history == nullptr) return {{from_ns, to_ns, thread_state::unknown}};
    const std::vector<state_point>& points = history->points;
    append(found, {from_ns, std::min(to_ns, points.front().time_ns), thread_state::unknown});
    const state_point* piece = piece_at(*history, from_ns);
    if (piece == nullptr) piece = points.data();
    for (; piece != &points.back() && piece->time_ns < to_ns; ++piece) {
        append(found, {std::max(from_ns, piece->time_ns), std::min(to_ns, (piece + 1)->time_ns),
                       piece->state});
    }
    append(found, {std::max(from_ns, points.back().time_ns), to_ns, thread_state::unknown});
    return found;
}

state_stretch thread_states::around(std::uint32_t thread, std::int64_t moment_ns) const {
    const state_stretch nothing{moment_ns, moment_ns, thread_state::unknown};
    const thread_history* history = history_of(*this, thread);
    const state_point* piece = history == nullptr ? nullptr : piece_at(*history, moment_ns);
    if (piece == nullptr || piece == &history->points.back()) return nothing;
    return {piece->time_ns, (piece + 1)->time_ns, piece->state};
}

state_times thread_states::sums_of(std::uint32_t thread) const {
    const thread_history* history = history_of(*this, thread);
    if (history == nullptr) return {};
    const std::int64_t first_ns = history->points.front().time_ns;
    const std::int64_t last_ns = history->points.back().time_ns;
    if (!history->sums) return between(thread, first_ns, last_ns);
    const kernel_sums& sums = *history->sums;
    if (between(thread, sums.from_ns, sums.to_ns).unknown_ns == 0)
        return between(thread, first_ns, last_ns);
    state_times times = split_by_sums(sums.to_ns - sums.from_ns, sums.on_cpu_ns, sums.delay_ns);
    times.add(between(thread, first_ns, sums.from_ns));
    times.add(between(thread, sums.to_ns, last_ns));
    return times;
}

state_times split_by_sums(std::int64_t span_ns, std::int64_t on_cpu_ns, std::int64_t delay_ns) {
    state_times times;
    times.on_cpu_ns = std::clamp<std::int64_t>(on_cpu_ns, 0, span_ns);
    times.preempted_ns = std::clamp<std::int64_t>(delay_ns, 0, span_ns - times.on_cpu_ns);
    times.blocked_ns = span_ns - times.on_cpu_ns - times.preempted_ns;
    return times;
}

std::span<const blocked_look> thread_states::looks_at(std::uint32_t thread, std::int64_t from_ns,
                                                      std::int64_t to_ns) const {
    const auto first =
        std::partition_point(looks.begin(), looks.end(), [&](const blocked_look& each) {
            return each.thread != thread ? each.thread < thread : each.time_ns < from_ns;
        });
    const auto last = std::partition_point(first, looks.end(), [&](const blocked_look& each) {
        return each.thread == thread && each.time_ns <= to_ns;
    });
    return {first, last};
}

}  // namespace coroscope::analysis
