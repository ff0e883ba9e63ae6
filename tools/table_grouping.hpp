// SPDX-License-Identifier: Apache-2.0
#pragma once

// The key of --group-by: one of the keys of a native trace, or any of those of an event list.

#include <string>

#include <coroscope/analysis/averages.hpp>

namespace coroscope::tools {

struct table_grouping {
    analysis::average_key key = analysis::average_key::name;
    std::string attribute;
    analysis::grouping events;
    bool needs_trace = false;   ///< only native traces have the key
    bool needs_events = false;  ///< only event lists have the key
};

/// The list of keys, as text for people.
[[nodiscard]] std::string grouping_names();

/// Returns the error for an invalid key; empty if it is valid.
[[nodiscard]] std::string check_grouping(const std::string& asked);

/// Parses a valid key. Precondition: check_grouping() returned an empty text.
[[nodiscard]] table_grouping parse_grouping(const std::string& asked);

}  // namespace coroscope::tools
