// SPDX-License-Identifier: Apache-2.0
// The forms of a comparison.

#include <algorithm>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "../compare/made_runs.hpp"
#include <coroscope/analysis/comparison_views.hpp>

using namespace coroscope_tests;

namespace {

analysis::comparison compared() {
    auto twice = steady_row("render", 7'000);
    auto once = twice;
    twice.per_request = 2;
    return compare({run_with({steady_row("parse", 10'000), once, steady_row("send", 9'000),
                              steady_row("a|b", 1'000)})},
                   {run_with({steady_row("parse", 11'000), twice, steady_row("send", 9'000),
                              steady_row("new one", 1'000)})});
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the text of a comparison has the changed rows, their intervals and the certainty") {
    const std::string text = comparison_text(compared());
    CHECK(has(text, "1 is slower, none is faster; 2 the same, none unclear, 1 new, 1 gone\n"));
    CHECK(has(text, "slower   +10.0 %"));
    CHECK(has(text, "+1.0 us  scope parse, service.cpp:10\n"));
    CHECK_FALSE(has(text, "scope send"));
    CHECK(has(text, "3 of 5 rows; --all shows the others\n"));
    CHECK(has(text, "Certainty: weak, because there is one run a side."));
    CHECK(has(comparison_text(compared(), {.all = true}), "scope send"));
}

TEST_CASE("the text of a comparison fits into 80 columns") {
    std::istringstream lines(comparison_text(compared(), {.all = true}));
    for (std::string line; std::getline(lines, line);) CHECK_MESSAGE(line.size() <= 80, line);
}

TEST_CASE("the text of a comparison says which scopes are called more often") {
    CHECK(has(comparison_text(compared()),
              "note: scope render is called 2 times per request, before 1 times\n"));
}

TEST_CASE("Markdown of a comparison is a table in which names cannot break cells") {
    const std::string text = comparison_markdown(compared());
    CHECK(has(text, "| **slower** | +10.0 % |"));
    CHECK(has(text, "scope a\\|b |"));
    CHECK(has(text, "- Certainty: weak"));
}

TEST_CASE("names in Markdown are neither links nor images, and mention nobody") {
    const std::string text =
        comparison_markdown(compare({run_with({steady_row("![i](http://e/p.png) @me", 10'000)})},
                                    {run_with({steady_row("![i](http://e/p.png) @me", 20'000)})}),
                            {.all = true});
    CHECK(has(text, "\\!\\[i\\]\\(http://e/p.png\\)"));
    CHECK_FALSE(has(text, "@me"));
}

TEST_CASE("JSON of a comparison has the fields of each row") {
    const std::string json = comparison_json(compared());
    CHECK(has(json, "\"rows\": ["));
    CHECK(has(json, "{\"kind\": \"scope\", \"name\": \"parse\", \"file\": \"src/service.cpp\", "
                    "\"line\": 10, \"verdict\": \"slower\", \"change\": 0.1, \"low\": 0.0"));
    CHECK(has(json, "\"verdict\": \"new\", \"change\": null, \"low\": null, \"high\": null"));
}
