// SPDX-License-Identifier: Apache-2.0
#include "length_classes.hpp"

#include <fmt/format.h>

namespace coroscope::analysis::inline pages {

std::string length_classes::json() const {
    std::string lower, upper, count;
    const auto add = [](std::string& to, std::uint64_t number) {
        to.append(to.empty() ? "" : ",").append(std::to_string(number));
    };
    for (const auto& [number, lengths] : counts_) {
        add(lower, lower_of(number));
        add(upper, lower_of(number + 1));
        add(count, lengths);
    }
    return fmt::format("{{\"lower_ns\":[{}],\"upper_ns\":[{}],\"count\":[{}]}}", lower, upper,
                       count);
}

}  // namespace coroscope::analysis::inline pages
