// SPDX-License-Identifier: Apache-2.0
#pragma once

// Warnings about an input that is still read. Every reader words them in the same way.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coroscope::analysis::inline text {

/// Adds "what: count" unless the count is 0.
inline void warn(std::vector<std::string>& warnings, std::string_view what, std::uint64_t count) {
    if (count != 0) warnings.push_back(std::string(what) + ": " + std::to_string(count));
}

}  // namespace coroscope::analysis::inline text
