// SPDX-License-Identifier: Apache-2.0

// The identities in formatted text.

#include <coroscope/integration/fmt.hpp>
#include <coroscope/integration/std_format.hpp>

#include <string>

#include <doctest/doctest.h>

using namespace coroscope;

TEST_CASE("fmt prints the identities as to_chars() writes them, with width and alignment") {
    CHECK(fmt::format("[{}]", task_identity{2080}) == "[2080]");
    CHECK(fmt::format("[{}]", task_identity{}) == "[-]");
    CHECK(fmt::format("[{}]", request_identity{2080, 3, 81'234}) == "[2080@81234]");
    CHECK(fmt::format("[{:>8}]", request_identity{0, 3, 81'234}) == "[t3@81234]");
    CHECK(fmt::format("[{:*<4}]", request_identity{}) == "[-***]");
}

TEST_CASE("the longest identity has room") {
    const request_identity longest{~std::uint64_t{0}, ~std::uint32_t{0}, -0x7fff'ffff'ffff'ffff};
    CHECK(fmt::format("{}", longest) == "18446744073709551615@-9223372036854775807");
}

#if defined(__cpp_lib_format)
TEST_CASE("std::format prints the identities, too") {
    CHECK(std::format("[{:>5}]", task_identity{2080}) == "[ 2080]");
    CHECK(std::format("[{}]", request_identity{2080, 3, 81'234}) == "[2080@81234]");
}
#endif
