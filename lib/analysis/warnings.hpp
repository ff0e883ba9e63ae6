// SPDX-License-Identifier: Apache-2.0
#pragma once

// What was wrong with an input that is read all the same, in the words that every reader uses.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coroscope::analysis {

/// Adds "what: count", where there is anything to count.
inline void warn(std::vector<std::string>& warnings, std::string_view what, std::uint64_t count) {
    if (count != 0) warnings.push_back(std::string(what) + ": " + std::to_string(count));
}

}  // namespace coroscope::analysis
