// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace coroscope::analysis::inline text {

/// Returns whether the pattern matches the whole text. '*' matches any characters, '?' one. The
/// time is at most the product of the sizes.
inline bool matches_glob(std::string_view pattern, std::string_view text) {
    constexpr std::size_t no_star = std::string_view::npos;
    std::size_t in_pattern = 0, in_text = 0;
    std::size_t star = no_star, retry = 0;  // the last '*', and the text behind its match
    while (in_text < text.size()) {
        const bool has_more = in_pattern < pattern.size();
        if (has_more && pattern[in_pattern] == '*') {
            star = in_pattern++;
            retry = in_text;
        } else if (has_more &&
                   (pattern[in_pattern] == '?' || pattern[in_pattern] == text[in_text])) {
            ++in_pattern;
            ++in_text;
        } else if (star != no_star) {
            in_pattern = star + 1;
            in_text = ++retry;
        } else {
            return false;
        }
    }
    while (in_pattern < pattern.size() && pattern[in_pattern] == '*') ++in_pattern;
    return in_pattern == pattern.size();
}

}  // namespace coroscope::analysis::inline text
