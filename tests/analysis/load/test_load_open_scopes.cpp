// SPDX-License-Identifier: Apache-2.0
// Scopes that were still open when the session ended.

#include <doctest/doctest.h>

#include "../loading.hpp"
#include <coroscope/analysis/views.hpp>

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;

namespace {

bool is_open(const analysis::event& event) { return (event.flags & analysis::event_open) != 0; }

}  // namespace

TEST_CASE(
    "open scopes last until the session's end, and enclose scopes that ended on their thread") {
    trace_builder built;
    const auto loop = built.site("loop"), request = built.site("request"),
               part = built.site("part");
    built.lasts(1000);
    built.on(1).scope(part, 100, 150).scope(part, 310, 320);
    built.on(2).scope(part, 310, 320);
    built.open_scope(1, loop, 10).open_scope(1, request, 300);
    const analysis::trace loaded = load(built);
    check_sound(loaded);
    CHECK(loaded.health.open_scopes == 2);
    const analysis::event& outer = event(loaded, "loop");
    const analysis::event& inner = event(loaded, "request");
    CHECK(is_open(outer));
    CHECK(is_open(inner));
    CHECK(outer.start_ns == 10);
    CHECK(outer.end_ns == 1000);
    CHECK(outer.thread == inner.thread);
    CHECK(parent_name(loaded, inner) == "loop");
    CHECK(outer.self_running_ns == 990 - 50 - 700);
    CHECK(inner.self_running_ns == 690);
    for (const analysis::event& each : loaded.events)
        if (loaded.strings[each.name] == "part") {
            CHECK_FALSE(is_open(each));
            const bool other_thread = each.thread != outer.thread;
            CHECK(parent_name(loaded, each) == (other_thread          ? ""
                                                : each.start_ns > 300 ? "request"
                                                                      : "loop"));
        }
    CHECK(analysis::loss_notes(loaded) == "Scopes that had not ended when the session did: 2\n");
}

TEST_CASE("the first of open scopes that began in one tick is the outer one") {
    trace_builder built;
    const auto outer = built.site("outer"), inner = built.site("inner");
    built.lasts(500);
    built.on(1);
    built.open_scope(1, outer, 100).open_scope(1, inner, 100);
    const analysis::trace loaded = load(built);
    check_sound(loaded);
    CHECK(parent_name(loaded, event(loaded, "inner")) == "outer");
    CHECK(event(loaded, "outer").parent == analysis::none);
}

TEST_CASE("the time of an open scope in a task's frame is divided as the task's") {
    trace_builder built;
    const auto handle = built.site("handle");
    built.lasts(1000);
    built.on(1).spawn(100, 7, 0, trace::spawn_started | trace::spawn_ready).suspend(300, 7);
    built.open_scope(1, handle, 150, 7, trace::scope_in_frame | trace::scope_exact);
    const analysis::trace loaded = load(built);
    check_sound(loaded);
    const analysis::event& open = event(loaded, "handle");
    CHECK(is_open(open));
    CHECK((open.flags & analysis::event_in_frame) != 0);
    CHECK(open.task == index_of(loaded, 7));
    const analysis::time_split& time = loaded.details[open.detail].time;
    CHECK(time.running_ns == 150);
    CHECK(time.suspended_ns + time.waiting_ns == 700);
}

TEST_CASE("an open scope in a frame outside tasks has unknown suspension") {
    trace_builder built;
    const auto handle = built.site("handle");
    built.lasts(1000);
    built.on(1);
    built.open_scope(1, handle, 150, 0, trace::scope_in_frame);
    const analysis::trace loaded = load(built);
    check_sound(loaded);
    const analysis::event& open = event(loaded, "handle");
    CHECK((open.flags & analysis::event_suspension_unknown) != 0);
    check_time(loaded.details[open.detail].time, 0, 0, 0, 850);
}

TEST_CASE("an open scope on the stack does not own the time of tasks that run above it") {
    trace_builder built;
    const auto main = built.site("main"), call = built.site("call");
    built.lasts(1000);
    built.on(1).spawn(100, 7, 0, trace::spawn_started | trace::spawn_ready).suspend(400, 7);
    built.on(2).spawn(500, 8, 0, trace::spawn_started | trace::spawn_ready);
    built.open_scope(1, main, 0).open_scope(2, call, 600, 8);
    const analysis::trace loaded = load(built);
    check_sound(loaded);
    CHECK(event(loaded, "main").self_running_ns == 700);
    CHECK(event(loaded, "main").task == analysis::none);
    CHECK(event(loaded, "call").self_running_ns == 400);
    CHECK(event(loaded, "call").task == index_of(loaded, 8));
}

TEST_CASE("threads without a record or without a description keep their open scopes") {
    trace_builder built;
    const auto waits = built.site("waits"), hangs = built.site("hangs");
    built.lasts(1000);
    built.on(1);
    built.open_scope(1, waits, 100).open_scope(9, hangs, 200);
    const analysis::trace loaded = load(built);
    check_sound(loaded);
    CHECK(loaded.threads[event(loaded, "waits").thread].id == 1);
    CHECK(loaded.threads[event(loaded, "hangs").thread].id == 9);
    CHECK(event(loaded, "hangs").end_ns == 1000);
}

TEST_CASE(
    "open scopes of a killed process are read from open chunks, and free places are skipped") {
    trace_builder built;
    const auto waits = built.site("waits");
    built.lasts(1000);
    built.on(1);
    built.open_place({ticks_of(1), 0, 5, 1, 1}).open_scope(1, waits, 100).leave_open();
    const analysis::trace loaded = load(built);
    check_sound(loaded);
    CHECK(loaded.health.open_scopes == 1);
    CHECK(loaded.health.damaged_chunks == 0);
    CHECK(loaded.tasks.empty());
    CHECK(is_open(event(loaded, "waits")));
}

TEST_CASE("a scope whose end was recorded while the file was read is not open") {
    trace_builder built;
    const auto waits = built.site("waits"), moves = built.site("moves"),
               stays = built.site("stays");
    built.lasts(1000);
    built.on(1).scope(waits, 100, 150);
    built.on(2).long_scope(moves, 200, 300, trace::scope_in_frame, 0, 1);
    built.open_scope(1, waits, 100).open_scope(1, moves, 200).open_scope(1, stays, 100);
    built.leave_open();
    const analysis::trace loaded = load(built);
    check_sound(loaded);
    CHECK(loaded.health.open_scopes == 1);
    CHECK(loaded.events.size() == 3);
    CHECK_FALSE(is_open(event(loaded, "waits")));
    CHECK_FALSE(is_open(event(loaded, "moves")));
    CHECK(is_open(event(loaded, "stays")));
}

TEST_CASE("malformed places of open scopes are left out and counted") {
    trace_builder built;
    const auto waits = built.site("waits");
    built.lasts(1000);
    built.on(1);
    trace::open_scope place{ticks_of(100), 0, 0, 1, 1};
    place.tag = trace::make_open_tag(trace::make_tag(trace::record_kind::scope, waits, 0), place);
    CHECK(trace::is_sound(place));
    built.open_place(place);
    const auto with = [&](auto change) {
        trace::open_scope changed = place;
        change(changed);
        CHECK_FALSE(trace::is_sound(changed));
        built.open_place(changed);
    };
    with([](trace::open_scope& each) { ++each.start; });
    with([](trace::open_scope& each) { ++each.task; });
    with([](trace::open_scope& each) { ++each.thread; });
    with([](trace::open_scope& each) { ++each.order; });
    with([](trace::open_scope& each) { each.tag ^= 32; });
    with([](trace::open_scope& each) { each.tag ^= 3; });
    const analysis::trace loaded = load(built);
    check_sound(loaded);
    CHECK(loaded.health.open_scopes == 1);
    REQUIRE(loaded.health.warnings.size() == 1);
    CHECK(loaded.health.warnings[0].find("malformed places of open scopes") != std::string::npos);
    CHECK(loaded.health.warnings[0].find('6') != std::string::npos);
}

TEST_CASE("info counts the open scopes, and says if the session did not record them") {
    trace_builder built;
    const auto waits = built.site("waits");
    built.lasts(1000);
    built.on(1).scope(waits, 1, 2);
    CHECK(analysis::info_text(load(built)).find("Open scopes not recorded (open_scopes)\n") !=
          std::string::npos);
    built.open_scope(1, waits, 100);
    built.header.unnamed_scopes = 3;
    const analysis::trace loaded = load(built);
    CHECK(analysis::info_text(loaded).find("Open scopes 1\n") != std::string::npos);
    CHECK(analysis::loss_notes(loaded).find(
              "Scopes that could not have been named if they had not ended: 3\n") !=
          std::string::npos);
    const std::string json = analysis::info_json(loaded);
    CHECK(json.find("\"open_scopes\": 1") != std::string::npos);
    CHECK(json.find("\"unnamed_scopes\": 3") != std::string::npos);
}
