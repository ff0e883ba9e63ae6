// SPDX-License-Identifier: Apache-2.0
#include "table_order.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "../../text/utf8.hpp"
#include "table_columns.hpp"

namespace coroscope::analysis::inline tables {
namespace {

/// Replaces the device in one of torch's older sort keys by "device".
std::string present_name(std::string key) {
    for (const std::string_view device : {"cuda", "xpu", "privateuse1", "mtia", "hpu"}) {
        const std::size_t at = key.find(device);
        if (at != std::string::npos) return key.replace(at, device.size(), "device");
    }
    return key;
}

}  // namespace

result<std::vector<std::size_t>> chosen_rows(const table_input& input,
                                             const table_options& options) {
    std::vector<std::size_t> order;
    for (std::size_t at = 0; at < input.rows.size(); ++at)
        if (!options.top_level_events_only || !input.rows[at].has_parent) order.push_back(at);
    if (!options.sort_by.empty()) {
        const std::span<const table_column> columns = table_columns();
        const auto column =
            std::ranges::find(columns, present_name(options.sort_by),
                              [](const table_column& each) { return each.sort.key; });
        if (column == columns.end()) {
            return failure{fmt::format("cannot sort by \"{}\"; one of {}",
                                       printable(options.sort_by), table_sort_keys())};
        }
        std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
            const std::int64_t one = column->sort.figure(input.rows[left]);
            const std::int64_t other = column->sort.figure(input.rows[right]);
            return one != other ? one > other : left < right;
        });
    }
    if (options.row_limit >= 0 && static_cast<std::size_t>(options.row_limit) < order.size()) {
        order.resize(static_cast<std::size_t>(options.row_limit));
    }
    return order;
}

}  // namespace coroscope::analysis::inline tables
