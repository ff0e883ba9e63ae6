// SPDX-License-Identifier: Apache-2.0
#pragma once

// The requests of one type, for comparisons.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/request_statistics.hpp>

#include "../words/request_words.hpp"

namespace coroscope::analysis::inline paths {

/// Returns the whole requests of one name that are not left out, the fastest first.
[[nodiscard]] inline std::vector<request_info>
requests_of_type(const trace& loaded, const request_list& list, std::string_view name) {
    std::vector<request_info> found;
    for (const request_info& each : list.requests)
        if (each.is_whole() && !each.left_out && request_name(loaded, each) == name)
            found.push_back(each);
    std::ranges::stable_sort(found, {}, &request_info::wall_ns);
    return found;
}

/// Returns the name of the slowest whole request; empty if there is none.
[[nodiscard]] inline std::string slowest_type(const trace& loaded, const request_list& list) {
    const auto slowest = find_slowest(list);
    return slowest ? request_name(loaded, list.requests[*slowest]) : std::string();
}

}  // namespace coroscope::analysis::inline paths
