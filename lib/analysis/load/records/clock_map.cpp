// SPDX-License-Identifier: Apache-2.0
#include "clock_map.hpp"

#include <algorithm>

namespace coroscope::analysis::inline records {
namespace {

using coroscope::trace::clock_point;

constexpr std::uint64_t slowest_rate = std::uint64_t{1} << 15;  // nanoseconds per tick: 30 kHz

// Nanoseconds since the session's start beyond which a clock point is damage: 70 years.
constexpr std::int64_t longest_session_ns = std::int64_t{1} << 61;

bool follows(const clock_point& next, const clock_point& previous) {
    if (next.ticks <= previous.ticks || next.monotonic_ns < previous.monotonic_ns) return false;
    const std::uint64_t elapsed_ns = static_cast<std::uint64_t>(next.monotonic_ns) -
                                     static_cast<std::uint64_t>(previous.monotonic_ns);
    return elapsed_ns < static_cast<std::uint64_t>(longest_session_ns) &&
           elapsed_ns / slowest_rate <= next.ticks - previous.ticks;
}

}  // namespace

clock_map::clock_map(std::vector<clock_point> points) {
    std::erase_if(points, [](const clock_point& point) { return point.ticks == 0; });
    if (points.empty()) points.push_back(clock_point{});
    const clock_point start = points.front();
    std::sort(points.begin(), points.end(), [](const clock_point& left, const clock_point& right) {
        return left.ticks < right.ticks;
    });

    start_ticks_ = start.ticks;
    clock_point previous = start;
    for (const clock_point& next : points) {
        if (!follows(next, previous)) continue;
        const std::uint64_t ticks = next.ticks - previous.ticks;
        const auto elapsed_ns =
            static_cast<std::uint64_t>(next.monotonic_ns - previous.monotonic_ns);
        const wide rate = ((static_cast<wide>(elapsed_ns) << rate_shift) + ticks - 1) / ticks;
        pieces_.push_back(
            {previous.ticks, ticks, last_point_ns_, static_cast<std::uint64_t>(rate)});
        last_point_ns_ += static_cast<std::int64_t>(elapsed_ns);
        if (last_point_ns_ >= longest_session_ns) break;
        previous = next;
    }
    calibrated_ = !pieces_.empty();
    if (calibrated_) {
        mean_rate_ = static_cast<double>(last_point_ns_) /
                     static_cast<double>(previous.ticks - start_ticks_);
    } else {
        pieces_.push_back({start_ticks_, 0, 0, std::uint64_t{1} << rate_shift});
    }
    end_last_piece();
    current_ = pieces_.front();
}

// The last piece ends when its times reach far_ns. All later ticks map to that time.
void clock_map::end_last_piece() {
    piece& last = pieces_.back();
    last.length_ticks = ~last.first_ticks;
    const std::uint64_t far_ticks = ticks_until_far(last.rate);
    if (far_ticks >= last.length_ticks) return;
    last.length_ticks = far_ticks;
    const std::uint64_t beyond = last.first_ticks + far_ticks;
    pieces_.push_back({beyond, ~beyond, far_ns, 0});
}

void clock_map::select(std::uint64_t ticks) {
    if (ticks < start_ticks_) {
        current_ = {0, start_ticks_, 0, 0};  // before the session: its start
        return;
    }
    const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), ticks,
                                        [](std::uint64_t moment, const piece& candidate) {
                                            return moment < candidate.first_ticks;
                                        });
    current_ = *std::prev(after);
}

std::int64_t clock_map::to_signed_ns(std::uint64_t ticks) {
    if (ticks >= start_ticks_) return to_ns(ticks);
    const std::uint64_t rate = pieces_.front().rate;
    const std::uint64_t before = std::min(start_ticks_ - ticks, ticks_until_far(rate));
    return -within({0, before, 0, rate}, before);
}

}  // namespace coroscope::analysis::inline records
