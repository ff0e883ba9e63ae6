// SPDX-License-Identifier: Apache-2.0
// The tasks to which scopes belong, and the jobs that are tasks of their own.

#include <doctest/doctest.h>

#include "../loading.hpp"

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;

TEST_CASE("scopes in a task's context belong to it without being its running time") {
    trace_builder built;
    const auto own = built.site("own"), attributed = built.site("attributed");
    built.on(1)
        .context(100, 5, 0)
        .scope(attributed, 110, 150)
        .context(200, 0, 5)
        .scope(own, 50, 250);
    built.on(2).spawn(0, 5, 0, trace::spawn_started).suspend(10, 5);
    const auto loaded = load(built);
    CHECK(event(loaded, "attributed").task == index_of(loaded, 5));
    CHECK(parent_name(loaded, event(loaded, "attributed")) == "own");
    CHECK(event(loaded, "own").task == analysis::none);
    CHECK(event(loaded, "own").self_running_ns == 160);
    CHECK(task(loaded, 5).time.running_ns == 10);
    check_sound(loaded);
}

TEST_CASE("a context inside a slice leaves the time to the slice's task") {
    trace_builder built;
    const auto outer = built.site("outer"), attributed = built.site("attributed");
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .spawn(5, 2)
        .context(100, 2, 1)
        .scope(attributed, 110, 150)
        .context(200, 1, 2)
        .scope(outer, 50, 250)
        .finish(300, 1);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 300, 0, 0, 0);
    CHECK(event(loaded, "attributed").task == index_of(loaded, 2));
    CHECK(parent_name(loaded, event(loaded, "attributed")) == "outer");
    CHECK(event(loaded, "outer").self_running_ns == 160);
    CHECK(task(loaded, 1).slices.size() == 1);
    check_sound(loaded);
}

TEST_CASE("a job that resumes a task is the task's wake, and no task of its own") {
    trace_builder built;
    const auto work = built.site("work");
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1)
        .spawn(120, 9, 0, trace::spawn_started)
        .spawn(150, 2, 0, trace::spawn_job, 9)
        .finish(160, 9);
    built.on(2)
        .resume(190, 2)
        .resume(200, 1, 2)
        .scope(work, 210, 240)
        .suspend(300, 1, 0, 2)
        .finish(310, 2);
    const auto loaded = load(built);
    CHECK(loaded.tasks.size() == 2);
    check_time(task(loaded, 1).time, 200, 50, 50, 700);
    CHECK(await(loaded, task(loaded, 1), 0).wake_ns == 150);
    CHECK(await(loaded, task(loaded, 1), 0).waker == index_of(loaded, 9));
    CHECK(event(loaded, "work").task == index_of(loaded, 1));
    check_sound(loaded);
}

TEST_CASE("a job that resumes no task is a task of its own, queued from its post") {
    trace_builder built;
    const auto work = built.site("work");
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .spawn(100, 2, 0, trace::spawn_job, 1)
        .finish(150, 1);
    built.on(2).resume(200, 2).scope(work, 210, 240).finish(300, 2);
    const auto loaded = load(built);
    CHECK(task(loaded, 2).job);
    CHECK(task(loaded, 2).parent == index_of(loaded, 1));
    check_time(task(loaded, 2).time, 100, 0, 100, 0);
    CHECK(event(loaded, "work").task == index_of(loaded, 2));
    check_sound(loaded);
}

namespace {

// Task 1 awaits the result of job 2, which resumes it.
trace_builder awaited_job(std::uint32_t flags) {
    trace_builder built;
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .spawn(100'000, 2, 0, trace::spawn_job | flags, 1)
        .suspend(110'000, 1);
    return built;
}

}  // namespace

TEST_CASE("a job with a scope before it resumes a task is a task of its own, and the resume is the "
          "wake") {
    trace_builder built = awaited_job(0);
    const auto work = built.site("work");
    built.on(2)
        .resume(200'000, 2)
        .scope(work, 210'000, 390'000)
        .resume(400'000, 1, 2)
        .finish(500'000, 1, 2)
        .finish(510'000, 2);
    const auto loaded = load(built);
    CHECK(task(loaded, 2).parent == index_of(loaded, 1));
    check_time(task(loaded, 2).time, 210'000, 100'000, 100'000, 0);
    check_time(task(loaded, 1).time, 210'000, 290'000, 0, 0);
    const auto& awaited = await(loaded, task(loaded, 1), 0);
    CHECK(awaited.wake_ns == 400'000);
    CHECK(awaited.waker == index_of(loaded, 2));
    CHECK(awaited.waker_thread == 1);
    CHECK(event(loaded, "work").task == index_of(loaded, 2));
    check_sound(loaded);
}

TEST_CASE("a job that takes a millisecond to resume a task is a task of its own, unless it only "
          "resumes") {
    for (const bool only_resumes : {false, true}) {
        CAPTURE(only_resumes);
        trace_builder built = awaited_job(only_resumes ? trace::spawn_only_resumes : 0U);
        built.on(2)
            .resume(200'000, 2)
            .resume(1'200'000, 1, 2)
            .finish(1'500'000, 1, 2)
            .finish(1'510'000, 2);
        const auto loaded = load(built);
        CHECK(loaded.tasks.size() == (only_resumes ? 1 : 2));
        CHECK(await(loaded, task(loaded, 1), 0).wake_ns == (only_resumes ? 110'000 : 1'200'000));
        check_sound(loaded);
    }
}

TEST_CASE("only the first task that a job resumes takes the post as its wake") {
    trace_builder built;
    built.on(1).spawn(0, 1).spawn(0, 3).spawn(50, 2, 0, trace::spawn_job);
    built.on(2)
        .resume(100, 2)
        .resume(110, 1, 2)
        .finish(150, 1, 2)
        .resume(160, 3, 2)
        .finish(200, 3, 2)
        .finish(210, 2);
    const auto loaded = load(built);
    CHECK(loaded.tasks.size() == 2);
    CHECK(task(loaded, 1).first_wake_ns == 50);
    CHECK(task(loaded, 3).first_wake_ns == 160);
    check_sound(loaded);
}

TEST_CASE("scopes of a folded job belong to the scope around the job") {
    trace_builder built;
    const auto loop = built.site("loop"), inside = built.site("inside");
    built.on(1)
        .spawn(0, 2, 0, trace::spawn_job)
        .spawn(0, 1)
        .resume(100, 2)
        .resume(150, 1, 2)
        .finish(250, 1, 2)
        .scope(inside, 260, 270)
        .finish(300, 2)
        .scope(loop, 50, 400);
    const auto loaded = load(built);
    CHECK(event(loaded, "inside").task == analysis::none);
    CHECK(parent_name(loaded, event(loaded, "inside")) == "loop");
    CHECK(event(loaded, "loop").self_running_ns == 350 - 100 - 10);
    check_sound(loaded);
}
