// SPDX-License-Identifier: Apache-2.0
#include "request_order.hpp"

#include <algorithm>
#include <tuple>

#include "../words/request_words.hpp"

namespace coroscope::analysis::inline pages {

request_order::request_order(const trace& from, const request_list& list,
                             const std::vector<request_type>& types)
    : from_(from), list_(list), types_(types) {
    for (std::size_t at = 0; at < types.size(); ++at)
        type_numbers_.emplace(types[at].name, static_cast<std::int64_t>(at));
    rows_.resize(list.requests.size());
    for (std::size_t at = 0; at < rows_.size(); ++at) rows_[at] = static_cast<std::uint32_t>(at);
    std::ranges::sort(rows_, {}, [&list](std::uint32_t at) {
        return std::tuple(-list.requests[at].wall_ns(), at);
    });
    if (rows_.size() > most_request_rows) rows_.resize(most_request_rows);
}

std::int64_t request_order::type_of(std::uint32_t request) const {
    const auto found = type_numbers_.find(request_name(from_, list_.requests[request]));
    return found == type_numbers_.end() ? -1 : found->second;
}

bool request_order::has_work(std::uint32_t row) const {
    return !request_of(row).left_out && request_of(row).wall_ns() > 0;
}

std::vector<std::uint32_t> request_order::by_right() const {
    std::vector<std::vector<std::uint32_t>> of_types(types_.size() + 1);
    for (std::uint32_t row = 0; row < rows_.size(); ++row) {
        if (!has_work(row)) continue;
        const std::int64_t type = type_of(rows_[row]);
        of_types[type < 0 ? types_.size() : static_cast<std::size_t>(type)].push_back(row);
    }
    std::vector<bool> taken(rows_.size());
    std::vector<std::uint32_t> order;
    const auto take = [&](std::uint32_t row) {
        if (!taken[row]) order.push_back(row);
        taken[row] = true;
    };
    std::unordered_map<std::uint64_t, std::uint32_t> rows_of_ids;
    for (std::uint32_t row = 0; row < rows_.size(); ++row) rows_of_ids[request_of(row).id] = row;
    for (const request_type& type : types_)
        for (const request_percentile& each : type.parts)
            if (const auto found = rows_of_ids.find(each.id);
                found != rows_of_ids.end() && has_work(found->second))
                take(found->second);
    bool more = true;
    for (std::size_t rank = 0; more; ++rank) {
        more = false;
        for (const auto& rows : of_types) {
            if (rank >= rows.size()) continue;
            take(rows[rank]);
            more = true;
        }
    }
    return order;
}

}  // namespace coroscope::analysis::inline pages
