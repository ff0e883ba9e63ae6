// SPDX-License-Identifier: Apache-2.0
// The rows of two builds that are the same place of the program.

#include <algorithm>

#include <doctest/doctest.h>

#include "../compare/made_runs.hpp"
#include <coroscope/analysis/comparison.hpp>

using namespace coroscope_tests;
using analysis::comparison_verdict;

TEST_CASE("a scope is found again after its line has moved") {
    const auto found = compare({run_with({steady_row("parse", 1'000, 10)})},
                               {run_with({steady_row("parse", 1'000, 25)})});
    REQUIRE(found.rows.size() == 1);
    CHECK(found.rows[0].line == 25);
    CHECK(found.rows[0].verdict == comparison_verdict::same);
    CHECK(found.rows[0].note.empty());
}

TEST_CASE("a scope is found again if the builds were made in different folders") {
    auto before = steady_row("parse", 1'000);
    auto after = before;
    before.file = "../src/net/service.cpp";
    after.file = "./src/net/service.cpp";
    CHECK(compare({run_with({before})}, {run_with({after})}).rows.size() == 1);
}

TEST_CASE("a scope that moved to another file is found by its name, and the row says so") {
    auto before = steady_row("parse", 1'000);
    before.file = "src/old.cpp";
    const auto found = compare({run_with({before})}, {run_with({steady_row("parse", 1'000)})});
    REQUIRE(found.rows.size() == 1);
    CHECK(found.rows[0].note == "was in src/old.cpp");
}

TEST_CASE("a scope that got another name is gone, and the other one is new") {
    const auto found =
        compare({run_with({steady_row("parse", 1'000)})}, {run_with({steady_row("read", 1'000)})});
    CHECK(row_named(found, "parse").verdict == comparison_verdict::gone);
    CHECK(row_named(found, "read").verdict == comparison_verdict::appeared);
}

TEST_CASE("scopes of one name in a file match in the order of their lines") {
    const auto found =
        compare({run_with({steady_row("lock", 1'000, 10), steady_row("lock", 5'000, 20)})},
                {run_with({steady_row("lock", 1'000, 12), steady_row("lock", 5'000, 22)})});
    REQUIRE(found.rows.size() == 2);
    for (const auto& each : found.rows) {
        CHECK(each.verdict == comparison_verdict::same);
        CHECK(each.note.starts_with("one of 2 of this name, matched in the order of lines"));
    }
}

TEST_CASE("scopes of one name whose number changed match by their lines alone") {
    const auto found =
        compare({run_with({steady_row("lock", 1'000, 10), steady_row("lock", 5'000, 20)})},
                {run_with({steady_row("lock", 1'000, 10), steady_row("lock", 2'000, 15),
                           steady_row("lock", 5'000, 22)})});
    CHECK(found.count(comparison_verdict::same) == 1);
    CHECK(found.count(comparison_verdict::unclear) == 3);
    CHECK(found.count(comparison_verdict::appeared) == 0);
}

TEST_CASE("one more scope of a name is new if the others kept their lines") {
    const auto found =
        compare({run_with({steady_row("lock", 1'000, 10)})},
                {run_with({steady_row("lock", 1'000, 10), steady_row("lock", 9, 15)})});
    CHECK(found.count(comparison_verdict::same) == 1);
    CHECK(found.count(comparison_verdict::appeared) == 1);
}

TEST_CASE("a lambda is found again after its line has moved") {
    const auto found = compare({run_with({steady_row("app::serve::{lambda:41}", 1'000, 41)})},
                               {run_with({steady_row("app::serve::{lambda:50}", 1'000, 50)})});
    REQUIRE(found.rows.size() == 1);
    CHECK(found.rows[0].name == "app::serve::{lambda:50}");
}

TEST_CASE("a scope and an await of one name are two rows") {
    const auto await = row_of(analysis::compared_kind::await, "db.query", 1e6);
    const auto found = compare({run_with({await, steady_row("db.query", 1'000)})},
                               {run_with({await, steady_row("db.query", 1'000)})});
    CHECK(found.rows.size() == 2);
}
