// SPDX-License-Identifier: Apache-2.0
#include "slowest_paths.hpp"

#include <algorithm>
#include <tuple>

#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../text/utf8.hpp"
#include "../words/request_words.hpp"

namespace coroscope::analysis::inline paths {

std::vector<request_info> slowest_requests(std::span<const request_info> requests,
                                           std::size_t most) {
    const auto goes_first = [](const request_info& left, const request_info& right) {
        const auto key = [](const request_info& of) {
            return std::tuple(!of.is_whole(), -of.wall_ns(), of.id);
        };
        return key(left) < key(right);
    };
    std::vector<request_info> chosen;  // a heap, with the last of them at the front
    for (const request_info& each : requests) {
        if (each.left_out || each.wall_ns() <= 0) continue;
        if (chosen.size() == most) {
            if (!goes_first(each, chosen.front())) continue;
            std::ranges::pop_heap(chosen, goes_first);
            chosen.pop_back();
        }
        chosen.push_back(each);
        std::ranges::push_heap(chosen, goes_first);
    }
    std::ranges::sort_heap(chosen, goes_first);
    return chosen;
}

std::string request_title(const trace& from, const request_info& request) {
    return fmt::format("{} {}, {}", printable(request_name(from, request)), request.id,
                       format_span(request.wall_ns()));
}

}  // namespace coroscope::analysis::inline paths
