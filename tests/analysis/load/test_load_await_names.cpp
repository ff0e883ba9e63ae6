// SPDX-License-Identifier: Apache-2.0
// Names of awaits that come from the scope around them.
#include <doctest/doctest.h>
#include <string>

#include "../loading.hpp"
#include <coroscope/analysis/await_statistics.hpp>

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;
using trace::site_kind;

namespace {

struct named_trace : trace_builder {
    std::uint32_t plain = site("co_await in run", "a.cpp", 8, site_kind::await);
    std::uint32_t query = site("db.query", "a.cpp", 9, site_kind::await);
    std::uint32_t cache = site("cache.get", "a.cpp", 9, site_kind::await);
    std::uint32_t block = site("block", "a.cpp", 7, site_kind::scope);
};

std::string name_of(const analysis::trace& loaded, std::size_t position) {
    const auto& found = await(loaded, task(loaded, 1), position);
    return found.site == analysis::none ? "" : loaded.sites[found.site].label;
}

}  // namespace

TEST_CASE("an await without a label of its own gets the label of the await scope around it") {
    named_trace built;
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1, built.plain)
        .resume(200, 1)
        .long_scope(built.query, 90, 210, exact_in_frame, 1)
        .suspend(300, 1, built.plain)
        .resume(400, 1)
        .long_scope(built.cache, 290, 410, exact_in_frame, 1)
        .suspend(500, 1, built.plain)
        .resume(600, 1)
        .finish(700, 1);
    const auto loaded = load(built);
    CHECK(name_of(loaded, 0) == "db.query");
    CHECK(name_of(loaded, 1) == "cache.get");
    CHECK(name_of(loaded, 2) == "co_await in run");
}

TEST_CASE("only the first of several awaits in an await scope gets the label of the scope") {
    named_trace built;
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1, built.plain)
        .resume(120, 1)
        .suspend(140, 1, built.plain)
        .resume(150, 1)
        .long_scope(built.cache, 130, 160, exact_in_frame, 1)
        .suspend(170, 1, built.plain)
        .resume(180, 1)
        .long_scope(built.query, 90, 210, exact_in_frame, 1)
        .finish(700, 1);
    const auto loaded = load(built);
    CHECK(name_of(loaded, 0) == "db.query");
    CHECK(name_of(loaded, 1) == "cache.get");
    CHECK(name_of(loaded, 2) == "co_await in run");
}

TEST_CASE(
    "an await keeps its own label, and the next one in its await scope does not get the scope's") {
    named_trace built;
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1, built.cache)
        .resume(120, 1)
        .suspend(140, 1, built.plain)
        .resume(150, 1)
        .long_scope(built.query, 90, 210, exact_in_frame, 1)
        .finish(700, 1);
    const auto loaded = load(built);
    CHECK(name_of(loaded, 0) == "cache.get");
    CHECK(name_of(loaded, 1) == "co_await in run");
}

TEST_CASE("an await gets no label of a scope further out, nor of a scope that is no await") {
    named_trace built;
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1, built.plain)
        .resume(120, 1)
        .long_scope(built.block, 95, 130, exact_in_frame, 1)
        .long_scope(built.query, 90, 210, exact_in_frame, 1)
        .finish(700, 1);
    const auto loaded = load(built);
    CHECK(name_of(loaded, 0) == "co_await in run");
}

TEST_CASE("an operation of Asio gets the label of the innermost await scope, however far out") {
    named_trace built;
    const auto read = built.site("socket.read", "", 0, site_kind::operation);
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1, read)
        .resume(120, 1)
        .long_scope(built.block, 95, 130, exact_in_frame, 1)
        .suspend(140, 1, read)
        .resume(150, 1)
        .long_scope(built.query, 90, 210, exact_in_frame, 1)
        .suspend(300, 1, read)
        .resume(310, 1)
        .finish(700, 1);
    const auto loaded = load(built);
    CHECK(name_of(loaded, 0) == "db.query");
    CHECK(name_of(loaded, 1) == "db.query");
    CHECK(name_of(loaded, 2) == "socket.read");
}

TEST_CASE("a wait of a fiber, which has no line, has the place of the scope in which it waits") {
    for (const std::uint32_t fiber : {trace::spawn_fiber + 0U, 0U}) {
        named_trace built;
        const std::uint32_t wait = built.site("boost.fiber.suspend", "", 0, site_kind::await);
        built.on(1)
            .spawn(0, 1, 0, trace::spawn_started | fiber)
            .suspend(100, 1, wait)
            .resume(200, 1)
            .long_scope(built.block, 50, 250, exact_in_frame, 1)
            .finish(300, 1);
        const auto loaded = load(built);
        const auto rows = analysis::await_statistics(loaded);
        REQUIRE(rows.size() == 1);
        CHECK(rows[0].name == "boost.fiber.suspend");
        REQUIRE(rows[0].site < loaded.sites.size());
        CHECK(loaded.sites[rows[0].site].line == (fiber != 0 ? 7 : 0));
    }
}
