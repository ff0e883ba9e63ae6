// SPDX-License-Identifier: Apache-2.0

// Waits for resources, by the resource's name.

#include "loading.hpp"
#include <coroscope/analysis/add_process.hpp>
#include <coroscope/analysis/resource_statistics.hpp>
#include <coroscope/analysis/views.hpp>
#include <doctest/doctest.h>

using namespace coroscope;
using namespace coroscope::test;
using coroscope::trace::make_mark;

namespace {

trace_builder contended() {
    trace_builder built;
    built.lasts(100'000);
    const auto cache = built.site("cache", "", 0, trace::site_kind::resource, "", "mutex");
    const auto slots = built.site("db", "", 0, trace::site_kind::resource, "", "pool");
    const auto flush = built.site("flush", "cache.cpp", 9, trace::site_kind::coroutine, "flush");
    const auto write = built.site("write"), read = built.site("read");
    built.on(2).spawn(100, 5, flush, trace::spawn_started).scope(write, 200, 60'000);
    built.on(3).scope(read, 200, 60'000);
    built.on(1)
        .resource_wait(1'000, 2'000, {.site = cache, .holder = make_mark(5, 2)})
        .resource_wait(3'000, 5'000, {.site = cache, .instance = 2, .holder = make_mark(5, 2)})
        .resource_wait(6'000, 16'000, {.site = cache, .holder = make_mark(0, 3)})
        .resource_wait(17'000, 17'500, {.site = cache, .flags = trace::resource_wait_gave_up})
        .resource_wait(20'000, 60'000, {.site = slots, .capacity = 8});
    return built;
}

}  // namespace

TEST_SUITE("statistics of resources") {
    TEST_CASE("each name has its waits, their lengths, and its most frequent holder") {
        const auto loaded = load(contended());
        const auto found = analysis::statistics_of_resources(loaded);
        REQUIRE(found.size() == 2);
        CHECK(found[0].name == "db");
        CHECK(found[0].kind == "pool");
        CHECK(found[0].capacity == 8);
        CHECK(found[0].holder.waits == 0);
        CHECK(found[0].unknown_holders == 1);
        const analysis::resource_statistics& cache = found[1];
        CHECK(cache.name == "cache");
        CHECK(cache.instances == 2);
        CHECK(cache.waits == 4);
        CHECK(cache.gave_up == 1);
        CHECK(cache.total_ns == 13'500);
        CHECK(cache.length.p50_ns == 1'000);
        CHECK(cache.length.p99_ns == 10'000);
        CHECK(cache.length.max_ns == 10'000);
        CHECK(cache.unknown_holders == 1);
        CHECK(cache.holder.waits == 2);
        CHECK(cache.holder.total_ns == 3'000);
        REQUIRE(cache.holder.spawn_site != analysis::none);
        CHECK(loaded.sites[cache.holder.spawn_site].label == "flush");
        REQUIRE(cache.holder.scope != analysis::none);
        CHECK(loaded.strings[cache.holder.scope] == "write");
    }

    TEST_CASE("the listing has a row for each, and unknown cells where no holder is known") {
        const auto loaded = load(contended());
        const auto list =
            analysis::list_resources(loaded, analysis::statistics_of_resources(loaded));
        const std::string csv = analysis::to_csv(list);
        CHECK(csv.find("db,pool,1,8,1,40000,40000,40000,40000,0,,,0,1") != std::string::npos);
        CHECK(csv.find("cache,mutex,2,1,4,13500,1000,10000,10000,1,flush,write,2,1") !=
              std::string::npos);
    }

    TEST_CASE("the producer of a future counts as the holder of its result") {
        trace_builder built;
        const auto result = built.site("future", "", 0, trace::site_kind::resource, "", "future");
        const auto quote =
            built.site("quote", "price.cpp", 9, trace::site_kind::coroutine, "quote");
        built.on(2).spawn(100, 5, quote, trace::spawn_started).finish(700, 5);
        built.on(1)
            .resource_wait(200, 600, {.site = result, .releaser = make_mark(5, 2), .released = 500})
            .resource_wait(700, 800, {.site = result});
        const auto found = analysis::statistics_of_resources(load(built));
        REQUIRE(found.size() == 1);
        CHECK(found[0].kind == "future");
        CHECK(found[0].holder.waits == 1);
        CHECK(found[0].holder.total_ns == 400);
        CHECK(found[0].holder.spawn_site != analysis::none);
        CHECK(found[0].unknown_holders == 1);
    }

    TEST_CASE("a trace without waits has no resources") {
        CHECK(analysis::statistics_of_resources(analysis::trace()).empty());
    }

    TEST_CASE("the largest capacity that a trace can hold is shown as that or more") {
        trace_builder built;
        const auto slots = built.site("db", "", 0, trace::site_kind::resource, "", "pool");
        built.on(1).resource_wait(100, 200, {.site = slots, .capacity = 70'000});
        const auto loaded = load(built);
        const std::string text = analysis::to_text(
            analysis::list_resources(loaded, analysis::statistics_of_resources(loaded)), {});
        CHECK(text.find("65535+") != std::string::npos);
    }

    TEST_CASE("a task's story has its waits for resources") {
        trace_builder built;
        const auto cache = built.site("cache", "", 0, trace::site_kind::resource, "", "mutex");
        const auto serve =
            built.site("serve", "serve.cpp", 1, trace::site_kind::coroutine, "serve");
        built.on(1).spawn(100, 7, serve, trace::spawn_started);
        built.on(1).resource_wait(1'000, 2'000, {.site = cache, .waiter = make_mark(7, 1)});
        const auto loaded = load(built);
        const auto task = analysis::find_task(loaded, 7);
        REQUIRE(task);
        const std::string csv = analysis::to_csv(analysis::list_task_waits(loaded, *task));
        CHECK(csv.find("mutex cache,1000,1000,unknown,,acquired") != std::string::npos);
    }

    TEST_CASE("processes keep their waits for resources when they are joined") {
        const auto one = load(contended());
        analysis::trace all = one;
        analysis::add_process(all, one);
        CHECK(all.resource_waits.size() == 2 * one.resource_waits.size());
        const auto joined = analysis::statistics_of_resources(all);
        REQUIRE(joined.size() == 2);
        CHECK(joined[1].total_ns == 27'000);
        CHECK(joined[1].holder.waits == 4);
    }
}
