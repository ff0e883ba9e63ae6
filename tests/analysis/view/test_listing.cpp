// SPDX-License-Identifier: Apache-2.0

// Listings as text, CSV and JSON, sorted and cut.

#include <coroscope/analysis/listing.hpp>

#include <doctest/doctest.h>

#include <string>

#include "../../support/json.hpp"

namespace {

using namespace coroscope::analysis;
using coroscope_tests::json;
using coroscope_tests::parse_json;

TEST_CASE("a listing is the same in text, CSV and JSON") {
    listing list;
    list.columns = {{"Name", "name", cell_kind::text},
                    {"Calls", "count", cell_kind::count},
                    {"Took", "took_ns", cell_kind::time}};
    list.rows = {{std::string("a,b"), optional_ns(3), optional_ns(1'500'000)},
                 {std::string(), not_applicable(), optional_ns()}};
    CHECK(to_text(list) == "Name  Calls        Took\n"
                           "----  -----  ----------\n"
                           "a,b       3     1.500ms\n"
                           "-         -     unknown\n");
    CHECK(to_csv(list) == "name,count,took_ns\n\"a,b\",3,1500000\n,,\n");
    const json rows = parse_json(to_json(list));
    CHECK(rows[0]["took_ns"].integer() == 1'500'000);
    CHECK(rows[1]["took_ns"].is == json::kind::null);
    CHECK(rows[1]["name"].text.empty());
}

TEST_CASE("a listing is sorted by a key of numbers, unknown last, and cut") {
    listing list;
    list.columns = {{"Name", "name", cell_kind::text}, {"Took", "took_ns", cell_kind::time}};
    list.rows = {{std::string("unknown"), optional_ns()},
                 {std::string("short"), optional_ns(1)},
                 {std::string("long"), optional_ns(2)}};
    const auto sorted = arranged(list, {.sort_by = "took"});
    REQUIRE(sorted.has_value());
    CHECK(to_csv(*sorted) == "name,took_ns\nlong,2\nshort,1\nunknown,\n");
    const auto cut = arranged(list, {.sort_by = "took_ns", .row_limit = 1});
    REQUIRE(cut.has_value());
    CHECK(to_csv(*cut) == "name,took_ns\nlong,2\n");
    CHECK_FALSE(arranged(list, {.sort_by = "name"}).has_value());
    CHECK(arranged(list, {.sort_by = "x"}).error().message == "cannot sort by \"x\"; one of took");
}

TEST_CASE("an empty listing still has its headings") {
    listing list;
    list.columns = {{"Name", "name", cell_kind::text}};
    CHECK(to_text(list) == "Name\n----\n");
    CHECK(to_csv(list) == "name\n");
    CHECK(parse_json(to_json(list)).elements.empty());
}

}  // namespace
