// SPDX-License-Identifier: Apache-2.0

// Values at the begins and ends of scopes, and the figures of unusual numbers.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "../loading.hpp"
#include <coroscope/analysis/value_statistics.hpp>
#include <coroscope/analysis/views.hpp>
#include <coroscope/trace/value_format.hpp>

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;

namespace {

void add_value(thread_writer& writer, std::int64_t at, std::uint32_t site, double number,
               std::uint64_t task = 0) {
    writer.raw(ticks_of(at),
               trace::make_tag(trace::record_kind::fact, trace::make_value_id(site, true),
                               sizeof(trace::value_body)),
               {std::bit_cast<std::uint64_t>(number), trace::make_mark(task, 1)});
}

std::string scope_of(const analysis::trace& loaded, std::size_t value) {
    const std::uint32_t scope = loaded.values[value].scope;
    return scope == analysis::none ? "" : loaded.strings[loaded.events[scope].name];
}

std::vector<analysis::value_statistics> statistics_of(const std::vector<double>& numbers) {
    trace_builder built;
    const auto site = built.site("depth", "a.cpp", 3, trace::site_kind::value);
    auto writer = built.on(1);
    for (std::size_t at = 0; at < numbers.size(); ++at)
        add_value(writer, 100 + static_cast<std::int64_t>(at), site, numbers[at]);
    return analysis::statistics_of_values(load(built));
}

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();

}  // namespace

TEST_SUITE("statistics of values") {
    TEST_CASE("a value at the moment of a scope's end is in the scope that ended after it") {
        trace_builder built;
        const auto site = built.site("depth", "a.cpp", 3, trace::site_kind::value);
        const auto outer = built.site("outer"), inner = built.site("inner");
        auto writer = built.on(1);
        add_value(writer, 200, site, 1);
        writer.scope(inner, 150, 200);
        add_value(writer, 200, site, 2);
        writer.scope(outer, 100, 200);
        add_value(writer, 200, site, 3);
        const auto loaded = load(built);
        REQUIRE(loaded.values.size() == 3);
        CHECK(scope_of(loaded, 0) == "inner");
        CHECK(scope_of(loaded, 1) == "outer");
        CHECK(scope_of(loaded, 2).empty());
    }

    TEST_CASE("a value at the moment of the end of a scope in a frame is in the scope") {
        trace_builder built;
        const auto site = built.site("depth", "a.cpp", 3, trace::site_kind::value);
        const auto handle = built.site("handle"), parse = built.site("parse");
        auto writer = built.on(1);
        writer.spawn(100, 5, 0, trace::spawn_started);
        add_value(writer, 300, site, 1, 5);
        writer.scope(parse, 200, 300);
        add_value(writer, 300, site, 2, 5);
        writer.long_scope(handle, 110, 300, trace::scope_in_frame | trace::scope_exact, 5);
        add_value(writer, 300, site, 3, 5);
        writer.finish(310, 5);
        const auto loaded = load(built);
        REQUIRE(loaded.values.size() == 3);
        CHECK(scope_of(loaded, 0) == "parse");
        CHECK(scope_of(loaded, 1) == "handle");
        CHECK(scope_of(loaded, 2).empty());
    }

    TEST_CASE("the mean lies between the least and the greatest value") {
        for (const std::vector<double>& numbers :
             {std::vector<double>(10, 0.1), std::vector<double>(3, largest),
              std::vector<double>(7, -largest), std::vector<double>(5, 5e-324),
              std::vector<double>{largest, largest, 1}}) {
            const auto all = statistics_of(numbers);
            REQUIRE(all.size() == 1);
            CHECK(all[0].least <= all[0].mean);
            CHECK(all[0].mean <= all[0].most);
        }
    }

    TEST_CASE("the mean keeps small values beside large ones") {
        CHECK(statistics_of({1e16, 1, -1e16, 1})[0].mean == 0.5);
        CHECK(statistics_of({largest, -largest, 3})[0].mean == 1);
        CHECK(statistics_of({5e-324, 5e-324})[0].mean == 5e-324);
    }

    TEST_CASE("the mean of an infinity is infinite, and of both infinities no number") {
        const auto positive = statistics_of({1, infinite, infinite, std::nan("")});
        CHECK(positive[0].mean == infinite);
        CHECK(positive[0].not_numbers == 1);
        CHECK(statistics_of({1, -infinite})[0].mean == -infinite);
        const auto both = statistics_of({-infinite, 1, infinite});
        CHECK(std::isnan(both[0].mean));
        CHECK(both[0].least == -infinite);
        CHECK(both[0].most == infinite);
    }

    TEST_CASE("a mean that is no number is shown as a dash") {
        trace_builder built;
        const auto site = built.site("depth", "a.cpp", 3, trace::site_kind::value);
        auto writer = built.on(1);
        add_value(writer, 100, site, -infinite);
        add_value(writer, 101, site, infinite);
        const auto loaded = load(built);
        const analysis::listing list =
            analysis::list_values(loaded, analysis::statistics_of_values(loaded));
        CHECK(analysis::to_csv(list).find("depth,,2,,,,,0,") != std::string::npos);
        const std::string text = analysis::to_text(list);
        CHECK(text.find("-inf") != std::string::npos);
        CHECK(text.find("nan") == std::string::npos);
    }
}
