// SPDX-License-Identifier: Apache-2.0
#include "timeline.hpp"

#include <algorithm>

namespace coroscope::analysis::inline tasks {

std::size_t timeline::in_force(std::uint32_t position, std::size_t hint) const {
    const auto holds = [&](std::size_t at) {
        return switches[at].position <= position &&
               (at + 1 == switches.size() || switches[at + 1].position > position);
    };
    if (holds(hint)) return hint;
    if (hint + 1 < switches.size() && holds(hint + 1)) return hint + 1;
    if (hint > 0 && holds(hint - 1)) return hint - 1;
    const auto after = std::upper_bound(
        switches.begin() + 1, switches.end(), position,
        [](std::uint32_t sought, const switch_point& next) { return sought < next.position; });
    return static_cast<std::size_t>(after - switches.begin()) - 1;
}

// Returns the index of the switch to `group` that is in force at `moment_ns`. Several switches may
// have this time, because a scope and a nested slice may begin in the same tick.
std::size_t timeline::find(std::uint32_t group, std::int64_t moment_ns, std::size_t last) const {
    constexpr std::size_t damage_limit = 64;  // the search goes forward only in a damaged stream
    const auto first = switches.begin();
    const auto end = first + static_cast<std::ptrdiff_t>(last) + 1;
    const auto after = std::upper_bound(
        first + 1, end, moment_ns,
        [](std::int64_t moment, const switch_point& next) { return moment < next.time_ns; });
    const auto at = static_cast<std::size_t>(after - first) - 1;
    std::size_t back = at;
    while (back > 0 && switches[back].group != group && switches[back].time_ns == moment_ns) --back;
    if (switches[back].group == group) return back;
    std::size_t forward = at;
    while (forward < last && forward < at + damage_limit && switches[forward].group != group)
        ++forward;
    return forward;
}

std::int64_t timeline::own_between(std::uint32_t group, std::int64_t from_ns, std::int64_t to_ns,
                                   std::size_t last) const {
    const auto own_at = [&](std::int64_t moment_ns) {
        const std::size_t at = find(group, moment_ns, last);
        const switch_point& here = switches[at];
        if (here.group != group) return std::int64_t{0};
        return here.own_before_ns + std::max<std::int64_t>(0, moment_ns - here.time_ns);
    };
    const std::int64_t own_ns = own_at(to_ns) - own_at(from_ns);
    return std::clamp<std::int64_t>(own_ns, 0, std::max<std::int64_t>(0, to_ns - from_ns));
}

}  // namespace coroscope::analysis::inline tasks
