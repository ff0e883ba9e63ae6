// SPDX-License-Identifier: Apache-2.0
// The parents of events, and their self times.

#include <doctest/doctest.h>

#include "../loading.hpp"

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;

TEST_CASE("scopes nest by time within a thread, although a child is written before its parent") {
    trace_builder built;
    const auto outer = built.site("outer"), middle = built.site("middle"),
               inner = built.site("inner");
    built.on(1)
        .scope(inner, 20, 30)
        .scope(inner, 40, 50)
        .scope(middle, 15, 60)
        .scope(inner, 70, 80)
        .scope(outer, 10, 90);
    const auto loaded = load(built);
    REQUIRE(loaded.events.size() == 5);
    CHECK(loaded.strings[loaded.events[0].name] == "outer");
    CHECK(loaded.strings[loaded.events[1].name] == "middle");
    CHECK(loaded.events[1].parent == 0);
    CHECK(loaded.events[2].parent == 1);
    CHECK(loaded.events[3].parent == 1);
    CHECK(loaded.events[4].parent == 0);
    CHECK(loaded.events[0].self_running_ns == 80 - 45 - 10);
    CHECK(loaded.events[1].self_running_ns == 45 - 20);
    check_sound(loaded);
}

TEST_CASE("torch's test vector: the only edge is (1,2) under (1,3)") {
    trace_builder built;
    const auto a = built.site("(0,1)"), b = built.site("(1,2) of 1"), c = built.site("(0,2)"),
               d = built.site("(1,2)"), e = built.site("(1,3)");
    built.on(1).scope(a, 0, 1).scope(b, 1, 2);
    built.on(2).scope(c, 0, 2).scope(d, 1, 2).scope(e, 1, 3);
    const auto loaded = load(built);
    CHECK(parent_name(loaded, event(loaded, "(1,2)")) == "(1,3)");
    for (const char* root : {"(0,1)", "(1,2) of 1", "(0,2)", "(1,3)"})
        CHECK(parent_name(loaded, event(loaded, root)).empty());
    check_sound(loaded);
}

TEST_CASE("the scope that ended last is the parent among scopes of equal intervals") {
    trace_builder built;
    const auto child = built.site("child"), parent = built.site("parent");
    built.on(1).scope(child, 10, 20).scope(parent, 10, 20);
    const auto loaded = load(built);
    CHECK(parent_name(loaded, event(loaded, "child")) == "parent");
    CHECK(event(loaded, "parent").self_running_ns == 0);
}

TEST_CASE("an empty scope is a child at its parent's start and not at its end") {
    trace_builder built;
    const auto at_start = built.site("at start"), at_end = built.site("at end"),
               parent = built.site("parent");
    built.on(1).scope(at_start, 10, 10).scope(at_end, 20, 20).scope(parent, 10, 20);
    const auto loaded = load(built);
    CHECK(parent_name(loaded, event(loaded, "at start")) == "parent");
    CHECK(parent_name(loaded, event(loaded, "at end")).empty());
}

TEST_CASE("scopes that overlap without nesting are sorted by start") {
    trace_builder built;
    const auto a = built.site("a"), b = built.site("b"), c = built.site("c");
    built.on(1).scope(a, 60, 70).scope(b, 30, 80).scope(c, 50, 90);
    const auto loaded = load(built);
    REQUIRE(loaded.events.size() == 3);
    CHECK(loaded.events[0].start_ns == 30);
    CHECK(loaded.events[1].start_ns == 50);
    CHECK(loaded.events[2].start_ns == 60);
    check_sound(loaded);
}

TEST_CASE("events of several threads are merged by start") {
    trace_builder built;
    const auto site = built.site("work");
    for (std::uint32_t thread = 1; thread <= 5; ++thread) {
        auto writer = built.on(thread);
        for (std::int64_t round = 0; round < 7; ++round)
            writer.scope(site, round * 100 + thread * 7, round * 100 + thread * 7 + 50);
    }
    const auto loaded = load(built);
    CHECK(loaded.events.size() == 35);
    for (const analysis::event& one : loaded.events) CHECK(one.parent == analysis::none);
    check_sound(loaded);
}

TEST_CASE("a scope too long for 16 bytes nests like any other") {
    trace_builder built;
    const auto inner = built.site("inner"), outer = built.site("outer");
    built.lasts(10'000'000'000);
    built.on(1).scope(inner, 5'000'000'000, 5'000'000'100).long_scope(outer, 0, 9'000'000'000, 0);
    const auto loaded = load(built);
    CHECK(parent_name(loaded, event(loaded, "inner")) == "outer");
    CHECK(event(loaded, "outer").end_ns == 9'000'000'000);
    CHECK(event(loaded, "outer").detail == analysis::none);
    CHECK(event(loaded, "outer").self_running_ns == 9'000'000'000 - 100);
    check_sound(loaded);
}

TEST_CASE("a run-time label names its scope") {
    trace_builder built;
    built.on(1)
        .label(5, 1, "first")
        .label(6, 2, "second")
        .long_scope(2, 10, 20, trace::scope_dynamic);
    built.on(2).label(5, 2, "other thread's").long_scope(9, 30, 40, trace::scope_dynamic);
    const auto loaded = load(built);
    CHECK(event(loaded, "second").site == analysis::none);
    CHECK(event(loaded, "unknown label").start_ns == 30);
}

TEST_CASE("arguments go to the scope whose start they precede") {
    trace_builder built;
    const auto site = built.site("query"), other = built.site("other");
    built.on(1)
        .arguments(10, site, "outer")
        .arguments(10, site, "inner")
        .scope(other, 10, 12)
        .scope(site, 10, 15)
        .scope(site, 10, 20)
        .scope(site, 30, 40);
    const auto loaded = load(built);
    const auto arguments = [&loaded](std::int64_t start, std::int64_t end) -> std::string {
        for (const analysis::event& one : loaded.events) {
            if (one.start_ns != start || one.end_ns != end || one.detail == analysis::none)
                continue;
            const std::uint32_t text = loaded.details[one.detail].arguments;
            return text == analysis::none ? "" : loaded.strings[text];
        }
        return "";
    };
    CHECK(arguments(10, 15) == "inner");
    CHECK(arguments(10, 20) == "outer");
    CHECK(arguments(10, 12).empty());
    CHECK(arguments(30, 40).empty());
    check_sound(loaded);
}

TEST_CASE("a site without a label is named after its function") {
    trace_builder built;
    const auto site = built.site("", "a.cpp", 7, trace::site_kind::function, "handle(int)", "net");
    built.on(1).scope(site, 10, 20);
    const auto loaded = load(built);
    const analysis::event& found = event(loaded, "handle(int)");
    CHECK(loaded.sites[found.site].line == 7);
    CHECK(loaded.sites[found.site].category == "net");
}

TEST_CASE("a site that the trace does not describe gets a placeholder and a warning") {
    trace_builder built;
    const auto site = built.site("work");
    built.on(1).scope(site, 10, 20).scope(site, 30, 40);
    built.forget_sites();
    const auto loaded = load(built);
    CHECK(loaded.events.size() == 2);
    CHECK(loaded.strings[loaded.events[0].name] == "unknown site 16");
    REQUIRE(loaded.health.warnings.size() == 1);
    CHECK(loaded.health.warnings[0].starts_with("sites that records name"));
}

TEST_CASE("a range begun and ended by hand is the parent of a scope inside it") {
    trace_builder built;
    const auto range = built.site("range"), inner = built.site("inner");
    built.on(1).scope(inner, 20, 30).long_scope(range, 10, 40, trace::scope_explicit);
    const auto loaded = load(built);
    CHECK(parent_name(loaded, event(loaded, "inner")) == "range");
    CHECK(event(loaded, "range").self_running_ns == 20);
    CHECK((event(loaded, "range").flags & analysis::event_explicit) != 0);
    check_sound(loaded);
}

TEST_CASE("ranges that overlap without nesting are no parents, and no time counts twice") {
    trace_builder built;
    const auto first = built.site("first"), second = built.site("second");
    built.on(1)
        .long_scope(first, 0, 700, trace::scope_explicit)
        .long_scope(second, 300, 1000, trace::scope_explicit);
    const auto loaded = load(built);
    CHECK(parent_name(loaded, event(loaded, "second")).empty());
    check_sound(loaded);
}

TEST_CASE("a range that ends on another thread is asynchronous: it has neither children nor "
          "running time") {
    trace_builder built;
    const auto range = built.site("range"), inner = built.site("inner");
    built.on(1).scope(inner, 20, 30);
    built.on(2).long_scope(range, 10, 40, trace::scope_explicit, 0, 1);
    const auto loaded = load(built);
    const analysis::event& found = event(loaded, "range");
    CHECK((found.flags & analysis::event_async) != 0);
    CHECK(loaded.threads[found.thread].id == 1);
    REQUIRE(found.detail != analysis::none);
    CHECK(loaded.threads[loaded.details[found.detail].end_thread].id == 2);
    CHECK(found.self_running_ns == 0);
    CHECK(parent_name(loaded, event(loaded, "inner")).empty());
    check_sound(loaded);
}
