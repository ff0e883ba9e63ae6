// SPDX-License-Identifier: Apache-2.0
// How awaits ended, the objects that they waited for, and the end of the service.

#include <doctest/doctest.h>

#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/views.hpp>

#include "../loading.hpp"

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;
using analysis::task_state;
using trace::await_outcome;

namespace {

constexpr std::uint32_t with(await_outcome outcome) { return trace::make_outcome(outcome); }

}  // namespace

TEST_CASE("the resume record has the outcome of the await that it ends") {
    trace_builder built;
    const auto site = built.site("wait");
    built.on(1)
        .spawn(10, 1, 0, trace::spawn_started)
        .suspend(20, 1, site)
        .resume(30, 1, 0, with(await_outcome::value))
        .suspend(40, 1, site)
        .resume(50, 1, 0, with(await_outcome::error) | trace::resume_ready)
        .suspend(60, 1, site)
        .resume(70, 1, 0, with(await_outcome::cancelled))
        .suspend(80, 1, site)
        .resume(90, 1)
        .finish(100, 1);
    const auto loaded = load(built);
    const auto& one = task(loaded, 1);
    CHECK(await(loaded, one, 0).outcome == await_outcome::value);
    CHECK(await(loaded, one, 1).outcome == await_outcome::error);
    CHECK(await(loaded, one, 1).wake_ns == 40);
    CHECK(await(loaded, one, 2).outcome == await_outcome::cancelled);
    CHECK(await(loaded, one, 3).outcome == await_outcome::unknown);
    const auto sites = analysis::await_statistics(loaded);
    REQUIRE(sites.size() == 1);
    CHECK(sites[0].times.ended_by(await_outcome::value) == 1);
    CHECK(sites[0].times.ended_by(await_outcome::error) == 1);
    CHECK(sites[0].times.ended_by(await_outcome::cancelled) == 1);
    CHECK(sites[0].times.ended_by(await_outcome::unknown) == 1);
}

TEST_CASE("a fact behind the resume replaces the outcome of that await alone") {
    trace_builder built;
    built.on(1)
        .spawn(10, 1, 0, trace::spawn_started)
        .suspend(20, 1)
        .resume(30, 1, 0, with(await_outcome::value))
        .suspend(40, 1)
        .resume(50, 1, 0, with(await_outcome::value))
        .outcome(55, 1, await_outcome::exception)
        .suspend(60, 1)
        .resume(70, 1, 0, with(await_outcome::value))
        .finish(80, 1);
    const auto loaded = load(built);
    const auto& one = task(loaded, 1);
    CHECK(await(loaded, one, 0).outcome == await_outcome::value);
    CHECK(await(loaded, one, 1).outcome == await_outcome::exception);
    CHECK(await(loaded, one, 2).outcome == await_outcome::value);
    CHECK_FALSE(one.losses);
}

TEST_CASE("an awaited task that fails ends its await with an exception") {
    trace_builder built;
    built.on(1)
        .spawn(10, 1, 0, trace::spawn_started)
        .spawn(15, 2)
        .transfer(20, 1, 2)
        .finish_transfer(30, 2, 1, trace::finish_exception)
        .spawn(35, 3)
        .transfer(40, 1, 3)
        .finish_transfer(50, 3, 1)
        .finish(60, 1);
    const auto loaded = load(built);
    CHECK(await(loaded, task(loaded, 1), 0).outcome == await_outcome::exception);
    CHECK(await(loaded, task(loaded, 1), 1).outcome == await_outcome::value);
}

TEST_CASE("the outcome of a value is unknown if a record of an exception may be lost") {
    trace_builder built;
    built.thread(1).dropped_newest = 3;
    built.on(1)
        .spawn(10, 1, 0, trace::spawn_started)
        .suspend(20, 1)
        .resume(30, 1, 0, with(await_outcome::value))
        .suspend(40, 1)
        .resume(50, 1, 0, with(await_outcome::value));
    const auto loaded = load(built);
    CHECK(await(loaded, task(loaded, 1), 0).outcome == await_outcome::value);
    CHECK(await(loaded, task(loaded, 1), 1).outcome == await_outcome::unknown);
}

TEST_CASE("the await of a task that is destroyed while it waits is cancelled") {
    trace_builder built;
    built.on(1)
        .spawn(10, 1, 0, trace::spawn_started)
        .suspend(20, 1)
        .finish(30, 1, 0, trace::finish_destroyed)
        .spawn(40, 2, 0, trace::spawn_started)
        .suspend(50, 2);
    const auto loaded = load(built);
    CHECK(await(loaded, task(loaded, 1), 0).outcome == await_outcome::cancelled);
    CHECK(await(loaded, task(loaded, 2), 0).outcome == await_outcome::unknown);
}

TEST_CASE("a suspension names its object, and objects are counted by kind at each place") {
    trace_builder built;
    const auto site = built.site("wait");
    built.object(7, trace::object_kind::timer).object(9, trace::object_kind::other, "a gate");
    built.on(1)
        .spawn(10, 1, 0, trace::spawn_started)
        .suspend(20, 1, site, 0, 7)
        .resume(30, 1)
        .suspend(40, 1, site, 0, 9)
        .resume(50, 1)
        .suspend(60, 1, site, 0, 7)
        .resume(70, 1)
        .suspend(80, 1, site, 0, 11)
        .resume(85, 1)
        .suspend(90, 1, site)
        .resume(95, 1)
        .finish(99, 1);
    const auto loaded = load(built);
    const auto& one = task(loaded, 1);
    REQUIRE(await(loaded, one, 0).object != analysis::none);
    CHECK(loaded.objects[await(loaded, one, 0).object].kind == trace::object_kind::timer);
    CHECK(loaded.objects[await(loaded, one, 0).object].number == 7);
    CHECK(loaded.objects[await(loaded, one, 1).object].name == "a gate");
    CHECK(await(loaded, one, 2).object == await(loaded, one, 0).object);
    CHECK(loaded.objects[await(loaded, one, 3).object].undescribed);
    CHECK(await(loaded, one, 4).object == analysis::none);
    const std::string csv = to_csv(list_await_sites(loaded, analysis::await_statistics(loaded)));
    CHECK(csv.find("\"1 a gate, 1 object, 1 timer\"") != std::string::npos);
    const std::string json = analysis::task_json(loaded, 0);
    CHECK(json.find("\"object\": \"timer 7\"") != std::string::npos);
}

TEST_CASE("tasks that are abandoned behind the mark of its end have ended with the service") {
    trace_builder built;
    built.on(1)
        .spawn(10, 1, 0, trace::spawn_started)
        .suspend(20, 1)
        .spawn(25, 2, 0, trace::spawn_started)
        .suspend(30, 2)
        .finish(40, 1, 0, trace::finish_destroyed)
        .mark(50, trace::mark_kind::end_of_service)
        .finish(60, 2, 0, trace::finish_destroyed)
        .spawn(70, 3, 0, trace::spawn_started)
        .finish(80, 3);
    const auto loaded = load(built);
    CHECK(task(loaded, 1).state == task_state::abandoned);
    CHECK(task(loaded, 2).state == task_state::ended_with_service);
    CHECK(task(loaded, 3).state == task_state::finished);
}

TEST_CASE("a task that its service's shutdown destroyed has ended with the service") {
    trace_builder built;
    built.on(1)
        .spawn(10, 1, 0, trace::spawn_started)
        .suspend(20, 1)
        .finish(40, 1, 0, trace::finish_destroyed | trace::finish_with_service);
    const auto loaded = load(built);
    CHECK(task(loaded, 1).state == task_state::ended_with_service);
    CHECK(analysis::task_text(loaded, 0, {}).find("ended with service") != std::string::npos);
}

TEST_CASE("a coroutine's site has the size of its frame, and the largest of its instances") {
    trace_builder built;
    const auto one = built.site("load", "a.cpp", 3, trace::site_kind::coroutine);
    const auto other = built.site("load", "a.cpp", 3, trace::site_kind::coroutine);
    built.frame_of(one, 128).frame_of(other, 192);
    built.on(1).spawn(10, 1, one, trace::spawn_started).finish(20, 1);
    const auto loaded = load(built);
    CHECK(loaded.sites[task(loaded, 1).spawn_site].frame_bytes == 192);
    CHECK(analysis::task_text(loaded, 0, {}).find("192 bytes") != std::string::npos);
    const auto csv = to_csv(list_task_sites(loaded, analysis::task_statistics(loaded)));
    CHECK(csv.find("frame_bytes") != std::string::npos);
}
