// SPDX-License-Identifier: Apache-2.0
#pragma once

// Numbers the texts of events: names, categories and lanes. Neighbouring events mostly have the
// same ones, so the last ones are tried first.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/text_table.hpp>

#include "event_category.hpp"

namespace coroscope::analysis::inline chrome {

struct category_entry {
    std::string_view text;  ///< the list's copy
    std::uint32_t number = none;
    category_meaning meaning;
};

class chrome_names {
public:
    chrome_names(event_list& list, bool accept_nan) : list_(list), accept_nan_(accept_nan) {}

    /// Returns the number of a string token's text, or of any other token unchanged.
    std::uint32_t text(std::string_view token);
    /// Returns the number of an array or object, written on one line. Returns `none` for an absent
    /// token, and nullopt if the token is not JSON.
    std::optional<std::uint32_t> json(std::string_view token);
    const category_entry& category(std::string_view token);
    /// Returns the lane of a process and a thread. Ids are compared as texts, so "7" equals 7.
    std::uint32_t lane(std::string_view process, std::string_view thread);

private:
    struct lane_entry {
        std::string_view process;
        std::string_view thread;
        std::uint32_t number = none;
    };

    event_list& list_;
    bool accept_nan_;
    std::array<category_entry, 32> categories_;
    std::array<lane_entry, 256> lanes_;
    text_table spellings_;                 // of JSON in the file
    std::vector<std::uint32_t> one_line_;  // by spelling
};

}  // namespace coroscope::analysis::inline chrome
