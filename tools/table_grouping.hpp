// SPDX-License-Identifier: Apache-2.0
#pragma once

// What --group-by asks for: one of the ways of a native trace, or any of those of an event list.

#include <string>

#include <coroscope/analysis/averages.hpp>

namespace coroscope::tools {

struct table_grouping {
    analysis::average_key key = analysis::average_key::name;
    std::string attribute;
    analysis::grouping events;
    bool needs_trace = false;   ///< only a native trace has it
    bool needs_events = false;  ///< only torch's words have it
};

/// What it takes, for people.
[[nodiscard]] std::string grouping_names();

/// Why it is none; empty where it is one.
[[nodiscard]] std::string check_grouping(const std::string& asked);

/// Precondition: check_grouping finds nothing wrong.
[[nodiscard]] table_grouping parse_grouping(const std::string& asked);

}  // namespace coroscope::tools
