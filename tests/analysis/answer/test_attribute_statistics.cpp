// SPDX-License-Identifier: Apache-2.0
// The figures of attributes whose values are numbers.

#include <doctest/doctest.h>

#include <coroscope/analysis/value_statistics.hpp>
#include <coroscope/analysis/views.hpp>

#include "../small_traces.hpp"

using namespace coroscope_tests;
using namespace coroscope;

namespace {

void set(analysis::trace& made, const char* key, const std::string& value) {
    const auto at = static_cast<std::uint32_t>(made.strings.size());
    made.strings.insert(made.strings.end(), {key, value});
    made.attributes.push_back({at, at + 1, analysis::none, false});
}

}  // namespace

TEST_CASE("numeric attributes have count, min, mean, p99 and max by key") {
    analysis::trace made = empty_trace();
    for (int number = 200; number > 0; --number) set(made, "bytes", std::to_string(number));
    set(made, "share", "0.25");
    set(made, "share", "-1e3");
    const auto found = analysis::statistics_of_attributes(made);
    REQUIRE(found.size() == 2);
    CHECK(found[0].label == "bytes");
    CHECK(found[0].count == 200);
    CHECK(found[0].least == 1);
    CHECK(found[0].mean == doctest::Approx(100.5));
    CHECK(found[0].p99 == 198);
    CHECK(found[0].most == 200);
    CHECK(found[1].least == -1000);
    CHECK(analysis::to_csv(analysis::list_attributes(found))
              .starts_with("name,count,min,mean,p99,max,not_numbers\n"
                           "bytes,200,1,100.5,198,200,0\n"));
}

TEST_CASE("attributes that are no numbers are counted, and a key of only those has no row") {
    analysis::trace made = empty_trace();
    for (const char* text : {"12", "12 kB", "nan", "inf", "", "0x10"}) set(made, "size", text);
    set(made, "tenant", "acme");
    made.attributes.push_back({analysis::none, analysis::none, analysis::none, true});
    const auto found = analysis::statistics_of_attributes(made);
    REQUIRE(found.size() == 1);
    CHECK(found[0].count == 6);
    CHECK(found[0].not_numbers == 5);
    CHECK(found[0].most == 12);
}
