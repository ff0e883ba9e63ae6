// SPDX-License-Identifier: Apache-2.0

// The names of functions in a loaded trace: different functions have different names of a readable
// length.

#include "../../support/json.hpp"
#include "../loading.hpp"

#include <coroscope/analysis/add_process.hpp>
#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/table.hpp>

#include <set>
#include <string>
#include <vector>

namespace {

using namespace coroscope;
using namespace coroscope::test;
using coroscope::trace::site_kind;

std::vector<std::string> names_of(const analysis::trace& loaded) {
    std::vector<std::string> names;
    for (const analysis::function_event_avg& row : analysis::key_averages(loaded))
        names.push_back(row.name);
    return names;
}

/// A trace with a function scope for each label, in a file and a line.
struct function_place {
    std::string label;
    std::string file;
    std::uint32_t line;
};
analysis::trace trace_of(const std::vector<function_place>& functions) {
    trace_builder trace;
    std::int64_t at = 100;
    for (const function_place& each : functions) {
        const std::uint32_t site =
            trace.site(each.label, each.file, each.line, site_kind::function, each.label + "()");
        trace.on(1).scope(site, at, at + 50);
        at += 100;
    }
    return load(trace);
}

TEST_CASE("functions of one name in two places are two rows, with their places") {
    CHECK(names_of(trace_of(
              {{"load", "a/x.cpp", 3}, {"load", "a/x.cpp", 9}, {"store", "a/x.cpp", 20}})) ==
          std::vector<std::string>{"load (x.cpp:3)", "load (x.cpp:9)", "store"});
    CHECK(names_of(trace_of({{"load", "a/x.cpp", 3}, {"load", "b/x.cpp", 3}})) ==
          std::vector<std::string>{"load (a/x.cpp:3)", "load (b/x.cpp:3)"});
}

TEST_CASE("scopes that share a label on purpose stay one row") {
    trace_builder trace;
    const auto one = trace.site("render", "x.cpp", 3);
    const auto other = trace.site("render", "x.cpp", 9);
    trace.on(1).scope(one, 100, 150).scope(other, 200, 250);
    CHECK(names_of(load(trace)) == std::vector<std::string>{"render"});
}

TEST_CASE("a function has one name in the traces of all processes of a run") {
    analysis::trace all = trace_of({{"load", "x.cpp", 3}});
    add_process(all, trace_of({{"load", "x.cpp", 3}, {"load", "x.cpp", 9}}));
    CHECK(names_of(all) == std::vector<std::string>{"load (x.cpp:3)", "load (x.cpp:9)"});
}

TEST_CASE("a long name is shortened from its innermost template arguments on, and stays unique") {
    const std::string deep =
        "app::send<std::map<std::string, std::vector<std::pair<int, std::string>>>, "
        "std::unordered_map<int, std::vector<std::string>>>";
    REQUIRE(deep.size() > 100);
    CHECK(names_of(trace_of({{deep, "x.cpp", 3}})) ==
          std::vector<std::string>{"app::send<std::map<std::string, std::vector<…>>, "
                                   "std::unordered_map<int, std::vector<…>>>"});
    CHECK(names_of(trace_of({{deep.substr(0, deep.size() - 3), "x.cpp", 3}})) ==
          std::vector<std::string>{"app::send<std::map<std::string, std::vector<…>>, "
                                   "std::unordered_map<int, std::vector<…"});  // cut
    std::string other = deep;
    other.replace(other.find("std::pair"), 9, "app::twin");
    const std::vector<std::string> both =
        names_of(trace_of({{deep, "x.cpp", 3}, {other, "x.cpp", 3}}));
    REQUIRE(both.size() == 2);
    CHECK(both[0] != both[1]);
}

TEST_CASE("rows whose names are cut alike are distinct in text") {
    const std::string common(80, 'x');
    const analysis::trace loaded = trace_of(
        {{common + "_one", "x.cpp", 3}, {common + "_two", "x.cpp", 9}, {"short", "x.cpp", 20}});
    const auto text = analysis::table(analysis::table_of(loaded));
    REQUIRE(text.has_value());
    CHECK(text->find("_one") != std::string::npos);
    CHECK(text->find("_two") != std::string::npos);
    CHECK(text->find(std::string(56, 'x')) == std::string::npos);  // within the column
}

TEST_CASE("tables of every kind are well-formed for any bytes in a function's name and place") {
    const std::string odd = "=f\x1b[31m\xff<";
    const analysis::trace loaded = trace_of({{odd, "a\x1b\xfe.cpp", 3}, {odd, "a\x1b\xfe.cpp", 9}});
    const analysis::table_input input = analysis::table_of(loaded, analysis::average_key::thread);
    const auto csv = analysis::table_csv(input, {.guard_formulas = true});
    const auto text = analysis::table(input);
    const auto document = analysis::table_json(input);
    REQUIRE((csv.has_value() && text.has_value() && document.has_value()));
    for (const std::string& each : {*csv, *text, *document}) {
        CHECK(each.find('\x1b') == std::string::npos);
        CHECK(each.find('\xff') == std::string::npos);
        CHECK(each.find('\xfe') == std::string::npos);
    }
    CHECK(csv->find("\n'=f") != std::string::npos);
    CHECK_NOTHROW(coroscope_tests::json_parser(*document).document());
}

}  // namespace
