// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/enforce_unique.hpp>

namespace coroscope::analysis {

std::optional<failure> enforce_unique::see_key(std::vector<std::string> key) {
    const auto [place, is_new] = seen_.insert(std::move(key));
    if (is_new) return std::nullopt;
    std::string text;
    for (const std::string& part : *place) text.append(text.empty() ? "" : ", ").append(part);
    if (place->size() != 1) text = "(" + text + ")";
    return failure{"duplicate key: " + text};
}

}  // namespace coroscope::analysis
