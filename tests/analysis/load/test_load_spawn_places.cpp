// SPDX-License-Identifier: Apache-2.0
// The places of the calls that spawned tasks.

#include <doctest/doctest.h>

#include <coroscope/analysis/spawn_places.hpp>

#include "../loading.hpp"

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;

namespace {

constexpr auto coroutine = trace::site_kind::coroutine;

}  // namespace

TEST_CASE("sites of one coroutine for several places of spawns are one site") {
    trace_builder built;
    const auto any = built.site("handle", "a.cpp", 4, coroutine);
    const auto here = built.site("handle", "a.cpp", 4, coroutine);
    const auto there = built.site("handle", "a.cpp", 4, coroutine);
    built.spawn_place(here, 0x1000, 0x2000).spawn_place(there, 0x1000, 0x3000);
    built.on(1).spawn(10, 1, any).spawn(20, 2, here).spawn(30, 3, there).spawn(40, 4, here);
    const auto loaded = load(built);
    for (const std::uint64_t id : {2U, 3U, 4U})
        CHECK(task(loaded, id).spawn_site == task(loaded, 1).spawn_site);
    CHECK(task(loaded, 1).spawn_place == analysis::none);
    REQUIRE(loaded.spawn_places.size() == 2);
    CHECK(loaded.spawn_places[task(loaded, 3).spawn_place].caller == 0x3000);
    CHECK(task(loaded, 2).spawn_place == task(loaded, 4).spawn_place);
    CHECK(loaded.spawn_places[0].site == task(loaded, 1).spawn_site);
    check_sound(loaded);
}

TEST_CASE("a spawn record that only repeats the task leaves its place as it is") {
    trace_builder built;
    const auto any = built.site("handle", "a.cpp", 4, coroutine);
    const auto here = built.site("handle", "a.cpp", 4, coroutine);
    built.spawn_place(here, 0x1000, 0x2000);
    built.on(1).spawn(10, 1, here).adopt(1, any).resume(20, 1);
    const auto loaded = load(built);
    CHECK(task(loaded, 1).spawn_place == 0);
}

TEST_CASE("a place in no file that the trace names stays unknown") {
    trace_builder built;
    const auto here = built.site("handle", "a.cpp", 4, coroutine);
    built.spawn_place(here, 0x1000, 0x2000).spawn_place(99, 0x1000, 0x2000);
    built.module(0x1000, 0x4000, "/nowhere/program");
    built.on(1).spawn(10, 1, here);
    auto loaded = load(built);
    analysis::name_spawn_places(loaded);
    CHECK(loaded.spawn_places[0].function.empty());
    CHECK(loaded.spawn_places[0].file.empty());
    CHECK(loaded.sites[task(loaded, 1).spawn_site].line == 4);
}
