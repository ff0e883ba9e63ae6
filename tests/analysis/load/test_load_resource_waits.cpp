// SPDX-License-Identifier: Apache-2.0

// Waits for resources, as they are loaded: names, holders, scopes, damage.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "loading.hpp"
#include <coroscope/analysis/fold_tasks.hpp>
#include <doctest/doctest.h>

using namespace coroscope;
using namespace coroscope::test;
using coroscope::trace::make_mark;

namespace {

std::string scope_of(const analysis::trace& loaded, const analysis::resource_wait& wait) {
    return wait.holder_scope == analysis::none
               ? std::string()
               : loaded.strings[loaded.events[wait.holder_scope].name];
}

std::uint32_t resource(trace_builder& built, std::string_view name = "cache") {
    return built.site(name, "", 0, trace::site_kind::resource, "", "mutex");
}

}  // namespace

TEST_SUITE("loading waits for resources") {
    TEST_CASE("a wait has its times, its resource, its task and thread, and those of the holder") {
        trace_builder built;
        built.lasts(1000);
        const auto cache = resource(built);
        built.on(1).resume(100, 7).resource_wait(200, 300,
                                                 {.site = cache,
                                                  .instance = 3,
                                                  .waiter = make_mark(7, 1),
                                                  .holder = make_mark(8, 2),
                                                  .releaser = make_mark(0, 2),
                                                  .released = 250,
                                                  .capacity = 1});
        built.on(2).resume(110, 8);
        const auto loaded = load(built);
        REQUIRE(loaded.resource_waits.size() == 1);
        const analysis::resource_wait& wait = loaded.resource_waits[0];
        CHECK(wait.start_ns == 200);
        CHECK(wait.end_ns == 300);
        CHECK(wait.released_ns == 250);
        CHECK(loaded.sites[wait.site].label == "cache");
        CHECK(wait.instance == 3);
        CHECK(wait.capacity == 1);
        CHECK(wait.task == index_of(loaded, 7));
        CHECK(loaded.threads[wait.thread].id == 1);
        CHECK(wait.holder_known);
        CHECK(wait.holder_task == index_of(loaded, 8));
        CHECK(loaded.threads[wait.holder_thread].id == 2);
        CHECK(wait.releaser_task == analysis::none);
        CHECK(loaded.threads[wait.releaser_thread].id == 2);
        CHECK(loaded.health.warnings.empty());
    }

    TEST_CASE("the holder's scope is the innermost one that was open when the wait began") {
        trace_builder built;
        built.lasts(1000);
        const auto cache = resource(built), outer = built.site("outer"),
                   inner = built.site("inner"), later = built.site("later");
        built.on(1)
            .resource_wait(200, 300, {.site = cache, .holder = make_mark(0, 2)})
            .resource_wait(100, 310, {.site = cache, .holder = make_mark(0, 2)})
            .resource_wait(20, 320, {.site = cache, .holder = make_mark(0, 2)})
            .resource_wait(210, 330, {.site = cache});
        built.on(2).scope(inner, 150, 250).scope(later, 260, 280).scope(outer, 50, 400);
        const auto loaded = load(built);
        REQUIRE(loaded.resource_waits.size() == 4);  // by their starts
        CHECK(scope_of(loaded, loaded.resource_waits[0]).empty());
        CHECK(scope_of(loaded, loaded.resource_waits[1]) == "outer");
        CHECK(scope_of(loaded, loaded.resource_waits[2]) == "inner");
        CHECK(scope_of(loaded, loaded.resource_waits[3]).empty());
        CHECK_FALSE(loaded.resource_waits[3].holder_known);
    }

    TEST_CASE("a holder that is suspended holds in its frame's scope, not in another task's") {
        trace_builder built;
        built.lasts(1000);
        const auto cache = resource(built), held = built.site("held"), other = built.site("other");
        built.on(1).resource_wait(300, 400, {.site = cache, .holder = make_mark(8, 2)});
        built.on(2)
            .resume(100, 8)
            .suspend(200, 8)
            .scope(other, 250, 500)
            .resume(600, 8)
            .long_scope(held, 150, 700, trace::scope_in_frame | trace::scope_exact, 8)
            .suspend(710, 8);
        const auto loaded = load(built);
        REQUIRE(loaded.resource_waits.size() == 1);
        CHECK(scope_of(loaded, loaded.resource_waits[0]) == "held");
    }

    TEST_CASE("a holder that recorded nothing is known without a name, and adds no task") {
        trace_builder built;
        built.lasts(1000);
        built.on(1).resource_wait(200, 300,
                                  {.site = resource(built),
                                   .holder = make_mark(99, 55),
                                   .releaser = make_mark(98, 54),
                                   .released = 260});
        const auto loaded = load(built);
        REQUIRE(loaded.resource_waits.size() == 1);
        CHECK(loaded.resource_waits[0].holder_known);
        CHECK(loaded.resource_waits[0].holder_task == analysis::none);
        CHECK(loaded.resource_waits[0].holder_thread == analysis::none);
        CHECK(loaded.tasks.empty());
        CHECK(loaded.threads.size() == 1);
    }

    TEST_CASE("times that contradict each other stay within the wait") {
        trace_builder built;
        built.lasts(1000);
        const auto cache = resource(built);
        built.on(1)
            .resource_wait(300, 200, {.site = cache, .released = 250})
            .resource_wait(300, 400, {.site = cache, .released = 401})
            .resource_wait(300, 400, {.site = cache, .released = 299})
            .resource_wait(-50, 400, {.site = cache})
            .resource_wait(500, std::numeric_limits<std::int64_t>::max() / 2, {.site = cache});
        const auto loaded = load(built);
        REQUIRE(loaded.resource_waits.size() == 5);
        for (const analysis::resource_wait& each : loaded.resource_waits) {
            CHECK(each.start_ns >= 0);
            CHECK(each.end_ns >= each.start_ns);
            CHECK(each.end_ns <= loaded.duration_ns);
            CHECK_FALSE(each.released_ns);
            CHECK(each.clipped == (each.start_ns == 0));
        }
    }

    TEST_CASE("a body that is too short is left out and counted; other facts are skipped") {
        trace_builder built;
        built.lasts(1000);
        const auto kind = trace::record_kind::fact;
        const auto wait = trace::make_resource_wait_id(0, 1);
        const std::vector<std::uint64_t> words(6);
        built.on(1)
            .raw(ticks_of(100), trace::make_tag(kind, wait, 47), words)
            .raw(ticks_of(110), trace::make_tag(kind, 200, 48), words)
            .raw(ticks_of(120), trace::make_tag(kind, 200, 0))
            .resource_wait(130, 140, {.site = resource(built)});
        const auto loaded = load(built);
        CHECK(loaded.resource_waits.size() == 1);
        CHECK(loaded.health.damaged_chunks == 0);
        REQUIRE(loaded.health.warnings.size() == 1);
        CHECK(loaded.health.warnings[0] == "malformed waits for resources, left out: 1");
    }

    TEST_CASE("a wait without a site has none, and one whose site is not described a placeholder") {
        trace_builder built;
        built.lasts(1000);
        built.on(1).resource_wait(100, 140, {}).resource_wait(130, 140, {.site = 77});
        const auto loaded = load(built);
        REQUIRE(loaded.resource_waits.size() == 2);
        CHECK(loaded.resource_waits[0].site == analysis::none);
        CHECK(loaded.resource_waits[1].site != analysis::none);
    }
}
