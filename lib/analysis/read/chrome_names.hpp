// SPDX-License-Identifier: Apache-2.0
#pragma once

// The texts of events under their numbers: names, categories and lanes. Neighbouring events mostly have the
// same ones, so that what was seen last is looked at first.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/text_table.hpp>

#include "event_category.hpp"

namespace coroscope::analysis::reading {

struct category_entry {
    std::string_view text;  ///< as the list has it
    std::uint32_t number = none;
    category_meaning meaning;
};

class chrome_names {
public:
    chrome_names(event_list& list, bool accept_nan) : list_(list), accept_nan_(accept_nan) {}

    /// A string token's text, or another token as it stands.
    std::uint32_t text(std::string_view token);
    /// An array or object on one line, an absent token as `none`; nullopt where it is no JSON.
    std::optional<std::uint32_t> json(std::string_view token);
    const category_entry& category(std::string_view token);
    /// The lane of a process and a thread, ids being compared as texts: "7" is 7.
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
    text_table spellings_;                 // of JSON, as the file has them
    std::vector<std::uint32_t> one_line_;  // by their number there
};

}  // namespace coroscope::analysis::reading
