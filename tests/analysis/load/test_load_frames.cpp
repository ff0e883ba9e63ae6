// SPDX-License-Identifier: Apache-2.0
// Scopes that live in coroutine frames: their times and their tasks.

#include <doctest/doctest.h>

#include "../loading.hpp"

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;

namespace {

const analysis::event_detail& detail(const analysis::trace& loaded, const analysis::event& of) {
    REQUIRE(of.detail != analysis::none);
    return loaded.details[of.detail];
}

}  // namespace

TEST_CASE("the slices and awaits of its task divide the time of a scope in its frame") {
    trace_builder built;
    const auto function = built.site("handle"), render = built.site("render");
    built.on(1).spawn(0, 1, 0, trace::spawn_started).scope(render, 20, 40).suspend(100, 1);
    built.on(2)
        .resume(400, 1)
        .scope(render, 410, 430)
        .long_scope(function, 10, 450, exact_in_frame, 1, 1)
        .finish(500, 1);
    built.on(3).wake(300, 1);
    const auto loaded = load(built);
    const analysis::event& found = event(loaded, "handle");
    check_time(detail(loaded, found).time, 90 + 50, 200, 100, 0);
    CHECK(loaded.threads[found.thread].id == 1);
    CHECK(loaded.threads[detail(loaded, found).end_thread].id == 2);
    CHECK((found.flags & analysis::event_in_frame) != 0);
    CHECK((found.flags & analysis::event_async) != 0);
    CHECK((found.flags & analysis::event_suspension_unknown) == 0);
    CHECK(found.self_running_ns == 140 - 40);
    for (const analysis::event& one : loaded.events)
        if (loaded.strings[one.name] == "render") CHECK(parent_name(loaded, one) == "handle");
    CHECK(await(loaded, task(loaded, 1), 0).scope != analysis::none);
    CHECK(loaded.strings[loaded.events[await(loaded, task(loaded, 1), 0).scope].name] == "handle");
    check_sound(loaded);
}

TEST_CASE(
    "slices of others inside a task's slice do not count as running time of scopes in its frame") {
    trace_builder built;
    const auto function = built.site("handle");
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .spawn(100, 2, 0, trace::spawn_started, 1)
        .finish(300, 2, 1)
        .suspend(400, 1)
        .resume(500, 1)
        .long_scope(function, 50, 600, exact_in_frame, 1)
        .finish(700, 1);
    const auto loaded = load(built);
    check_time(detail(loaded, event(loaded, "handle")).time, 150 + 100, 200, 0, 100);
    CHECK(event(loaded, "handle").self_running_ns == 150 + 100);
    check_sound(loaded);
}

TEST_CASE(
    "a scope in an uninstrumented frame has unknown suspension, and all its time is waiting") {
    trace_builder built;
    const auto generator = built.site("generator"), body = built.site("body"),
               around = built.site("around");
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .scope(body, 30, 40)
        .long_scope(generator, 20, 80, trace::scope_in_frame, 1)
        .scope(around, 10, 90)
        .finish(100, 1);
    const auto loaded = load(built);
    const analysis::event& found = event(loaded, "generator");
    check_time(detail(loaded, found).time, 0, 0, 0, 60);
    CHECK((found.flags & analysis::event_suspension_unknown) != 0);
    CHECK(found.self_running_ns == 0);
    CHECK(found.task == index_of(loaded, 1));
    CHECK(parent_name(loaded, found) == "around");
    CHECK(parent_name(loaded, event(loaded, "body")) == "around");
    CHECK(event(loaded, "around").self_running_ns == 70);
    check_sound(loaded);
}

TEST_CASE("a scope in a frame outside tasks is no parent of scopes on its thread") {
    trace_builder built;
    const auto frame = built.site("frame"), call = built.site("call");
    built.on(1).scope(call, 30, 40).long_scope(frame, 20, 80, trace::scope_in_frame);
    const auto loaded = load(built);
    CHECK(parent_name(loaded, event(loaded, "call")).empty());
    CHECK(event(loaded, "frame").parent == analysis::none);
    check_sound(loaded);
}

TEST_CASE("a scope that ends with its frame, while its task is suspended, is abandoned and exact") {
    trace_builder built;
    const auto function = built.site("handle");
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1)
        .long_scope(function, 10, 300, trace::scope_in_frame, 1)
        .finish(310, 1, 0, trace::finish_destroyed);
    const auto loaded = load(built);
    const analysis::event& found = event(loaded, "handle");
    CHECK((found.flags & analysis::event_abandoned) != 0);
    CHECK((found.flags & analysis::event_suspension_unknown) == 0);
    check_time(detail(loaded, found).time, 90, 0, 0, 200);
    CHECK(found.self_running_ns == 90);
    check_sound(loaded);
}

TEST_CASE(
    "a frame destroyed by another thread than the scope's end does not make the scope abandoned") {
    trace_builder built;
    const auto function = built.site("handle");
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1)
        .long_scope(function, 10, 300, trace::scope_in_frame, 1);
    built.on(2).finish(310, 1, 0, trace::finish_destroyed);
    const auto loaded = load(built);
    CHECK((event(loaded, "handle").flags & analysis::event_abandoned) == 0);
    CHECK((event(loaded, "handle").flags & analysis::event_suspension_unknown) != 0);
}

TEST_CASE("a range begun and ended by hand in one task is divided like a scope of its frame") {
    trace_builder built;
    const auto range = built.site("range");
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1)
        .resume(300, 1)
        .long_scope(range, 50, 350, trace::scope_explicit, 1)
        .finish(400, 1);
    const auto loaded = load(built);
    check_time(detail(loaded, event(loaded, "range")).time, 100, 0, 0, 200);
    check_sound(loaded);
}

TEST_CASE("a range that another task ends has unknown suspension") {
    trace_builder built;
    const auto range = built.site("range");
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .finish(100, 1)
        .spawn(200, 2, 0, trace::spawn_started)
        .long_scope(range, 50, 250, trace::scope_explicit, 1)
        .finish(300, 2);
    const auto loaded = load(built);
    CHECK((event(loaded, "range").flags & analysis::event_suspension_unknown) != 0);
    CHECK(event(loaded, "range").task == index_of(loaded, 1));
}

TEST_CASE("an await of a coroutine that is no task is waiting throughout") {
    trace_builder built;
    const auto sleep = built.site("sleep", "a.cpp", 2, trace::site_kind::await);
    built.on(1).long_scope(sleep, 100, 400, trace::scope_await | trace::scope_in_frame);
    const auto loaded = load(built);
    check_time(detail(loaded, event(loaded, "sleep")).time, 0, 0, 0, 300);
    CHECK((event(loaded, "sleep").flags & analysis::event_await) != 0);
    CHECK((event(loaded, "sleep").flags & analysis::event_suspension_unknown) == 0);
}

TEST_CASE("a scope of a frame keeps its arguments if it ends on another thread") {
    trace_builder built;
    const auto function = built.site("handle");
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .arguments(10, function, "id=4")
        .suspend(100, 1);
    built.on(2).resume(200, 1).long_scope(function, 10, 250, exact_in_frame, 1, 1).finish(300, 1);
    const auto loaded = load(built);
    CHECK(loaded.strings[detail(loaded, event(loaded, "handle")).arguments] == "id=4");
}

TEST_CASE("awaits behind 200,000 nested scopes that have ended belong to the scope around them") {
    constexpr int many = 200'000;
    trace_builder built(std::size_t{1} << 25);
    const auto nested = built.site("nested"), whole = built.site("whole");
    auto writer = built.on(1);
    writer.resume(100, 1);
    for (int at = 0; at < many; ++at)
        writer.long_scope(nested, 1'000'000 - at, 1'000'001 + at, exact_in_frame, 1);
    for (int at = 0; at < many; ++at)
        writer.suspend(2'000'000 + 10 * at, 1).resume(2'000'005 + 10 * at, 1);
    const std::int64_t end = 2'000'000 + 10 * std::int64_t{many};
    writer.long_scope(whole, 500'000, end, exact_in_frame, 1);
    built.lasts(end + 100);
    const auto loaded = load(built);
    REQUIRE(task(loaded, 1).awaits.size() == many + 1);
    for (const std::size_t at : std::initializer_list<std::size_t>{1, 2, many})
        CHECK(await(loaded, task(loaded, 1), at).scope ==
              static_cast<std::uint32_t>(&event(loaded, "whole") - loaded.events.data()));
    CHECK(await(loaded, task(loaded, 1), 0).scope == analysis::none);
}
