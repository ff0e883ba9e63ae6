// SPDX-License-Identifier: Apache-2.0

// Texts and their numbers.

#include <coroscope/analysis/text_table.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>

namespace {

using coroscope::analysis::text_table;

TEST_CASE("each text has one number, counted from 0, and is found under it") {
    text_table table;
    CHECK(table.insert("a") == 0);
    CHECK(table.insert("") == 1);
    CHECK(table.insert("b") == 2);
    CHECK(table.insert("a") == 0);
    CHECK(table.insert("") == 1);
    CHECK(table[2] == "b");
    CHECK(table[7].empty());
    CHECK(table.size() == 3);
}

TEST_CASE("numbers and texts stay valid while a table grows and is moved") {
    constexpr std::uint32_t many = 20'000;
    text_table table;
    const std::string long_text(100'000, 'x');
    for (std::uint32_t at = 0; at < many; ++at) REQUIRE(table.insert(std::to_string(at)) == at);
    CHECK(table.insert(long_text) == many);
    const std::string_view kept = table[77];
    text_table moved = std::move(table);
    for (std::uint32_t at = 0; at < many; ++at) {
        REQUIRE(moved.insert(std::to_string(at)) == at);
        REQUIRE(moved[at] == std::to_string(at));
    }
    CHECK(moved[many] == long_text);
    CHECK(kept.data() == moved[77].data());
}

}  // namespace
