// SPDX-License-Identifier: Apache-2.0
// Names of awaits that come from the scope around them.
#include <doctest/doctest.h>
#include <string>

#include "loading.hpp"

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;
using trace::site_kind;

namespace {

constexpr std::uint32_t exact = trace::scope_in_frame | trace::scope_exact;

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

TEST_CASE("an await that only its promise understands bears the label of the scope around it") {
    named_trace built;
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1, built.plain)
        .resume(200, 1)
        .long_scope(built.query, 90, 210, exact, 1)
        .suspend(300, 1, built.plain)
        .resume(400, 1)
        .long_scope(built.cache, 290, 410, exact, 1)
        .suspend(500, 1, built.plain)
        .resume(600, 1)
        .finish(700, 1);
    const auto loaded = load(built);
    CHECK(name_of(loaded, 0) == "db.query");
    CHECK(name_of(loaded, 1) == "cache.get");
    CHECK(name_of(loaded, 2) == "co_await in run");
}

TEST_CASE("of several awaits in such a scope only the first is the labelled one") {
    named_trace built;
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1, built.plain)
        .resume(120, 1)
        .suspend(140, 1, built.plain)
        .resume(150, 1)
        .long_scope(built.cache, 130, 160, exact, 1)
        .suspend(170, 1, built.plain)
        .resume(180, 1)
        .long_scope(built.query, 90, 210, exact, 1)
        .finish(700, 1);
    const auto loaded = load(built);
    CHECK(name_of(loaded, 0) == "db.query");
    CHECK(name_of(loaded, 1) == "cache.get");
    CHECK(name_of(loaded, 2) == "co_await in run");
}

TEST_CASE("an await that has a label of its own keeps it, and what follows it is another await") {
    named_trace built;
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1, built.cache)
        .resume(120, 1)
        .suspend(140, 1, built.plain)
        .resume(150, 1)
        .long_scope(built.query, 90, 210, exact, 1)
        .finish(700, 1);
    const auto loaded = load(built);
    CHECK(name_of(loaded, 0) == "cache.get");
    CHECK(name_of(loaded, 1) == "co_await in run");
}

TEST_CASE("an await has no label of a scope further out, nor of one that is no await") {
    named_trace built;
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1, built.plain)
        .resume(120, 1)
        .long_scope(built.block, 95, 130, exact, 1)
        .long_scope(built.query, 90, 210, exact, 1)
        .finish(700, 1);
    const auto loaded = load(built);
    CHECK(name_of(loaded, 0) == "co_await in run");
}

TEST_CASE("an operation of Asio bears the label of the innermost await scope, however far out") {
    named_trace built;
    const auto read = built.site("socket.read", "", 0, site_kind::operation);
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1, read)
        .resume(120, 1)
        .long_scope(built.block, 95, 130, exact, 1)
        .suspend(140, 1, read)
        .resume(150, 1)
        .long_scope(built.query, 90, 210, exact, 1)
        .suspend(300, 1, read)
        .resume(310, 1)
        .finish(700, 1);
    const auto loaded = load(built);
    CHECK(name_of(loaded, 0) == "db.query");
    CHECK(name_of(loaded, 1) == "db.query");
    CHECK(name_of(loaded, 2) == "socket.read");
}
