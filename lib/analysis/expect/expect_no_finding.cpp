// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <coroscope/analysis/expect.hpp>
#include <coroscope/analysis/findings.hpp>
#include <fmt/format.h>

#include "../text/utf8.hpp"
#include "../words/places.hpp"

namespace coroscope::analysis {

expectation expect_no_finding(const recorded_block& recorded, finding_severity least) {
    if (!recorded.doubt().empty()) return {false, recorded.doubt()};
    const findings all = analysis::check(recorded.loaded());
    const auto is_severe = [least](const finding& each) { return each.severity >= least; };
    const auto first = std::ranges::find_if(all.found, is_severe);
    if (first == all.found.end()) return {true, {}};
    const std::string place = site_place(recorded.loaded(), first->cause.site);
    const auto others = std::ranges::count_if(all.found, is_severe) - 1;
    return {false,
            fmt::format("{} {}: {}{}{}. {}", name_of(first->severity), first->rule->id,
                        printable(first->title), place.empty() ? "" : " at " + printable(place),
                        others == 0 ? "" : fmt::format(" ({} more such findings)", others),
                        first->rule->advice)};
}

}  // namespace coroscope::analysis
