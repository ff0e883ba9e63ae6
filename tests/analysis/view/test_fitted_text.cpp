// SPDX-License-Identifier: Apache-2.0

// Listings that are fitted into a line.

#include <string>

#include <coroscope/analysis/listing.hpp>
#include <coroscope/analysis/units.hpp>
#include <doctest/doctest.h>

namespace analysis = coroscope::analysis;

namespace {

analysis::listing two_names(const std::string& one, const std::string& other) {
    analysis::listing list;
    list.columns = {{"Name", "name", analysis::cell_kind::text},
                    {"Total", "total_ns", analysis::cell_kind::time},
                    {"Never", "never", analysis::cell_kind::count},
                    {"At", "place", analysis::cell_kind::source}};
    for (const std::string& name : {one, other})
        list.rows.push_back({name, analysis::optional_ns(1'234'567), analysis::optional_ns(0),
                             std::string("a/long/folder/name/of/the/project/") + name + ".cpp:12"});
    return list;
}

std::string fitted(const analysis::listing& list, std::size_t width) {
    return analysis::to_text(list, {.line_width = width});
}

}  // namespace

TEST_SUITE("fitted text") {
    TEST_CASE("a listing that fits is not cut, but its silent columns are left out") {
        const std::string text = fitted(two_names("one", "other"), 200);
        CHECK(text.find("a/long/folder/name/of/the/project/other.cpp:12") != std::string::npos);
        CHECK(text.find("Not shown: Never; --wide shows all columns\n") != std::string::npos);
    }

    TEST_CASE("names that differ in the middle stay different") {
        const std::string same(60, 'x');
        const std::string text = fitted(two_names(same + "A" + same, same + "B" + same), 80);
        CHECK(text.find('A') != std::string::npos);
        CHECK(text.find('B') != std::string::npos);
    }

    TEST_CASE("a name keeps its beginning and its end, a place its end") {
        const std::string text =
            fitted(two_names("first" + std::string(90, '-') + "last", "short"), 80);
        CHECK(text.find("first") != std::string::npos);
        CHECK(text.find("last  ") != std::string::npos);
        CHECK(text.find("short.cpp:12") != std::string::npos);
    }

    TEST_CASE("a short time has three significant digits and the unit that follows from them") {
        CHECK(analysis::format_short_time(0) == "0");
        CHECK(analysis::format_short_time(999) == "999ns");
        CHECK(analysis::format_short_time(1'000) == "1.00us");
        CHECK(analysis::format_short_time(12'345) == "12.3us");
        CHECK(analysis::format_short_time(123'456) == "123us");
        CHECK(analysis::format_short_time(999'400) == "999us");
        CHECK(analysis::format_short_time(999'600) == "1.00ms");
        CHECK(analysis::format_short_time(99'960'000) == "100ms");
        CHECK(analysis::format_short_time(-1'500'000) == "-1.50ms");
        CHECK(analysis::format_short_time(1'500, analysis::time_unit::milliseconds) == "0.00ms");
    }
}
