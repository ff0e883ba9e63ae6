// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes a table, which must succeed, and returns its text.

#include <coroscope/analysis/table.hpp>

#include <doctest/doctest.h>

#include <string>

namespace coroscope::test {

inline std::string text_of(const analysis::table_input& input,
                           const analysis::table_options& options = {}) {
    const auto text = analysis::table(input, options);
    REQUIRE(text.has_value());
    return *text;
}

}  // namespace coroscope::test
