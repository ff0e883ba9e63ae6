// SPDX-License-Identifier: Apache-2.0
#include "odd_rows.hpp"

#include <algorithm>
#include <utility>

#include "../text/warnings.hpp"

namespace coroscope::analysis::inline reading {

void odd_rows::add(const std::string& table, const std::string& why, std::int64_t row,
                   std::string message) {
    if (reasons_.empty()) first_ = std::move(message);
    const auto known = std::ranges::find_if(
        reasons_, [&](const reason& each) { return each.table == table && each.why == why; });
    if (known != reasons_.end())
        ++known->count;
    else
        reasons_.push_back({table, why, row, 1});
}

void odd_rows::warn_of(std::vector<std::string>& warnings) const {
    for (const reason& each : reasons_)
        warn(warnings,
             "rows left out of table " + each.table + " (" + each.why + "; the first is row " +
                 std::to_string(each.first_row) + ")",
             each.count);
}

}  // namespace coroscope::analysis::inline reading
