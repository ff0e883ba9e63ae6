// SPDX-License-Identifier: Apache-2.0
// Lost records: the remaining records must add up, and the trace must report the loss.

#include <cstdint>
#include <doctest/doctest.h>
#include <string>

#include <coroscope/analysis/views.hpp>

#include "../../support/json.hpp"
#include "../loading.hpp"
#include "../table_text.hpp"

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;
using coroscope_tests::json;
using coroscope_tests::parse_json;

TEST_CASE("a session that did not record every thread counts the wakes that it has not seen") {
    trace_builder built;
    built.on(1)
        .spawn(100, 7, 0, trace::spawn_started)
        .suspend(200, 7)
        .resume(300, 7)  // by an unknown waker
        .suspend(400, 7)
        .wake(450, 7)
        .resume(500, 7)
        .suspend(600, 7);  // still suspended at the stop
    const analysis::trace own = load(built);
    CHECK(own.health.unseen_wakes == 1);
    CHECK(analysis::info_text(own).find("\nWakes unseen: 1, their time is waiting; ") !=
          std::string::npos);
    const json told = parse_json(analysis::info_json(own));
    CHECK(told["health"]["unseen_wakes"].integer() == 1);
    built.header.all_threads = 1;
    CHECK(load(built).health.unseen_wakes == 0);
}

TEST_CASE(
    "the chunk's header restores a thread's task after lost records, and the gap is waiting") {
    trace_builder built;
    const auto site = built.site("work");
    built.thread(1).dropped_newest = 50;
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .scope(site, 10, 100)
        .next_chunk(500, 2)
        .scope(site, 510, 520)
        .suspend(600, 2)
        .next_chunk(700, 1)
        .finish(800, 1);
    const auto loaded = load(built);
    CHECK(task(loaded, 1).losses);
    CHECK(task(loaded, 2).losses);
    check_time(task(loaded, 1).time, 100 + 100, 0, 0, 600);
    CHECK(loaded.events[1].task == index_of(loaded, 2));
    check_sound(loaded);
}

TEST_CASE("a chunk opened in a task's await_suspend does not make the task run again") {
    trace_builder built;
    SUBCASE("the oldest records were overwritten") { built.thread(1).overwritten = 10; }
    SUBCASE("records were dropped") { built.thread(1).dropped_newest = 10; }
    built.on(1)
        .spawn(100, 1, 0, trace::spawn_started)
        .suspend(200, 1)
        .next_chunk(201, 1)
        .wake(202, 1)
        .spawn(500, 2, 0, trace::spawn_started)
        .finish(600, 2);
    built.on(2).resume(400, 1).finish(450, 1);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 100 + 50, 2, 198, 0);
    CHECK(task(loaded, 1).slices.size() == 2);
    CHECK_FALSE(task(loaded, 1).losses);
    check_sound(loaded);
}

TEST_CASE(
    "a task at the beginning of a thread's records counts as running only if it leaves later") {
    trace_builder built;
    built.thread(1).overwritten = 10;
    built.on(1).next_chunk(201, 1).wake(202, 1);
    SUBCASE("the task was in its await_suspend") {
        built.on(1).spawn(500, 3, 0, trace::spawn_started).finish(600, 3);
        built.on(2).resume(400, 1).finish(450, 1);
        check_time(task(load(built), 1).time, 50, 0, 198, 0);
    }
    SUBCASE("the task was in its await_suspend, and the thread did nothing else") {
        built.on(2).resume(400, 1).finish(450, 1);
        check_time(task(load(built), 1).time, 50, 0, 198, 0);
    }
    SUBCASE("the task was in its await_suspend, which resumed it") {
        built.on(1).resume(400, 1, 1).finish(450, 1);
        check_time(task(load(built), 1).time, 50, 0, 198, 0);
    }
    SUBCASE("the task ran") {
        built.on(1).suspend(301, 1);
        CHECK(task(load(built), 1).time.running_ns == 100);
    }
    CHECK(task(load(built), 1).losses);
    check_sound(load(built));
}

TEST_CASE("a lost resume costs its task a slice and nothing else") {
    trace_builder built;
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1)
        .suspend(300, 1)
        .resume(400, 1)
        .finish(500, 1);
    const auto loaded = load(built);
    CHECK(task(loaded, 1).losses);
    check_time(task(loaded, 1).time, 200, 0, 0, 300);
    CHECK(task(loaded, 1).awaits.size() == 2);
    check_sound(loaded);
}

TEST_CASE("a lost suspend is noticed when another task is resumed") {
    trace_builder built;
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .resume(300, 2, 0)
        .finish(400, 2)
        .resume(500, 1)
        .finish(600, 1);
    const auto loaded = load(built);
    CHECK(task(loaded, 1).losses);
    check_sound(loaded);
}

TEST_CASE("no task runs on to the session's end on a thread that dropped its last records") {
    trace_builder built;
    built.thread(1).dropped_newest = 1;
    built.on(1).spawn(0, 1, 0, trace::spawn_started).scope(built.site("work"), 10, 200);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 200, 0, 0, 800);
    CHECK(task(loaded, 1).losses);
    check_sound(loaded);
}

TEST_CASE(
    "a task that may have run on a thread with losses is not queued until the session's end") {
    trace_builder built;
    built.thread(2).dropped_newest = 5;
    built.on(1)
        .spawn(10, 1, 0, trace::spawn_job)  // perhaps begun by thread 2
        .spawn(20, 2, 0, trace::spawn_started)
        .suspend(100, 2)
        .wake(150, 2)  // perhaps resumed by thread 2
        .spawn(160, 3, 0, trace::spawn_started)
        .suspend(200, 3)
        .wake(210, 3)
        .resume(400, 3)
        .finish(410, 3)
        .spawn(500, 4, 0, trace::spawn_started)
        .scope(built.site("work"), 510, 900);
    built.on(2).scope(built.site("work"), 50, 300);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 0, 0, 0, 990);
    check_time(task(loaded, 2).time, 80, 0, 0, 900);
    CHECK_FALSE(await(loaded, task(loaded, 2), 0).wake_ns);
    for (const std::uint64_t id : {1U, 2U}) {
        CHECK(task(loaded, id).state == analysis::task_state::unknown);
        CHECK(task(loaded, id).losses);
    }
    // It may have run on thread 2 meanwhile.
    check_time(task(loaded, 3).time, 40 + 10, 0, 0, 200);
    CHECK(task(loaded, 3).losses);
    // Its thread lost nothing.
    check_time(task(loaded, 4).time, 500, 0, 0, 0);
    CHECK(task(loaded, 4).state == analysis::task_state::running);
    CHECK_FALSE(task(loaded, 4).losses);
    const std::string sites =
        analysis::to_text(analysis::list_task_sites(loaded, analysis::task_statistics(loaded)));
    CHECK(sites.find("1 running, 1 finished, 2 unknown") != std::string::npos);
    check_sound(loaded);
}

TEST_CASE("wakes before the oldest remaining record of a thread are unknown") {
    trace_builder built;
    built.thread(2).overwritten = 5;
    built.on(1)
        .spawn(10, 1, 0, trace::spawn_job)
        .spawn(20, 2, 0, trace::spawn_started)
        .suspend(100, 2)
        .wake(150, 2)
        .spawn(510, 3, 0, trace::spawn_started)
        .suspend(600, 3)
        .wake(650, 3)
        .spawn(660, 4, 0, trace::spawn_job)
        .resume(700, 2)
        .finish(710, 2);
    built.on(2).next_chunk(500).scope(built.site("work"), 480, 520);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 0, 0, 0, 990);
    CHECK(task(loaded, 1).state == analysis::task_state::unknown);
    CHECK(task(loaded, 1).losses);
    check_time(task(loaded, 2).time, 80 + 10, 0, 0, 600);
    CHECK(task(loaded, 2).state == analysis::task_state::finished);
    CHECK(task(loaded, 2).losses);
    check_time(task(loaded, 3).time, 90, 50, 350, 0);
    CHECK(task(loaded, 3).state == analysis::task_state::queued);
    check_time(task(loaded, 4).time, 0, 0, 340, 0);
    CHECK(task(loaded, 4).state == analysis::task_state::queued);
    for (const std::uint64_t id : {3U, 4U}) CHECK_FALSE(task(loaded, id).losses);
    check_sound(loaded);
}

TEST_CASE("a ring lacks no record after its oldest chunk was handed over") {
    trace_builder built;
    built.thread(3).overwritten = 5;  // it ended, and no chunk of it is left
    built.on(1)
        .scope(built.site("work"), 10, 90)
        .next_chunk(400)
        .spawn(410, 1, 0, trace::spawn_job);
    built.on(2).next_chunk(200).spawn(390, 2, 0, trace::spawn_job);
    const auto loaded = load(built);
    CHECK(task(loaded, 1).state == analysis::task_state::queued);
    CHECK(task(loaded, 2).state == analysis::task_state::unknown);
    check_sound(loaded);
}

TEST_CASE("a task first met in the middle of its life, in a trace with losses, begins there") {
    trace_builder built;
    built.thread(1).overwritten = 1000;
    built.on(1).adopt(1).suspend(300, 1).resume(400, 1).finish(500, 1);
    const auto loaded = load(built);
    CHECK(task(loaded, 1).losses);
    CHECK_FALSE(task(loaded, 1).older_than_session);
    check_time(task(loaded, 1).time, 100, 0, 0, 100);
    check_sound(loaded);
}

TEST_CASE("a thread that only woke a task and has no description is no damage") {
    trace_builder built;
    built.on(1)
        .spawn(100, 7, 0, trace::spawn_started)
        .suspend(200, 7)
        .wake(250, 7, 0, 9)
        .resume(300, 7)
        .suspend(400, 7)
        .wake(450, 7, 0, 2)
        .resume(500, 7)
        .finish(600, 7);
    built.on(2).scope(built.site("work"), 10, 20);
    const analysis::trace loaded = load(built);
    CHECK(loaded.health.warnings.empty());
    CHECK(loaded.threads.size() == 2);
    CHECK(await(loaded, task(loaded, 7), 0).wake_ns == 250);
    CHECK(await(loaded, task(loaded, 7), 0).waker_thread == analysis::none);
    CHECK(loaded.threads[await(loaded, task(loaded, 7), 1).waker_thread].id == 2);
}

TEST_CASE("a thread on which a scope only began and that has no description is no damage") {
    trace_builder built;
    built.on(1).long_scope(built.site("work"), 100, 200, trace::scope_in_frame, 0, 9);
    const analysis::trace loaded = load(built);
    CHECK(loaded.health.warnings.empty());
    CHECK(loaded.threads[event(loaded, "work").thread].id == 9);
}

TEST_CASE("a spawn that is recorded again before the task's end starts nothing and loses nothing") {
    constexpr std::uint32_t started = trace::spawn_started | trace::spawn_ready;
    trace_builder built;
    built.on(1)
        .spawn(100, 1, 0, started)
        .spawn(100, 1, 0, started | trace::spawn_adopted)
        .finish(200, 1)
        .spawn(300, 2, 0, started)
        .suspend(400, 2)
        .spawn(300, 2, 0, started | trace::spawn_adopted)
        .finish(500, 2, 2, trace::finish_destroyed)
        .spawn(600, 3, 0, started)
        .suspend(700, 3);
    built.on(2).resume(800, 3).spawn(600, 3, 0, started | trace::spawn_adopted).finish(900, 3);
    const analysis::trace loaded = load(built);
    check_time(task(loaded, 1).time, 100, 0, 0, 0);
    check_time(task(loaded, 2).time, 100, 0, 0, 100);
    check_time(task(loaded, 3).time, 200, 0, 0, 100);
    for (const std::uint64_t id : {1U, 2U, 3U}) CHECK_FALSE(task(loaded, id).losses);
    CHECK(task(loaded, 2).slices.size() == 1);
    check_sound(loaded);
}

TEST_CASE("each view names the features that were asked for and have no data, which is no loss") {
    trace_builder built;
    built.on(1).scope(built.site("work"), 100, 200);
    built.header.finished = 1;
    built.header.asked_for =
        trace::feature_memory | trace::feature_modules | trace::feature_arguments;
    built.header.without_data = trace::feature_memory | trace::feature_modules;
    const analysis::trace loaded = load(built);
    constexpr const char* lines =
        "Asked for memory: no allocation was reported; link coroscope-memory-hook, or use "
        "coroscope::memory_resource\n"
        "Asked for modules: no module was entered; use coroscope::module_guard\n";
    CHECK(analysis::loss_notes(loaded) == lines);
    CHECK(analysis::summary(loaded).ends_with(lines));
    CHECK(analysis::info_text(loaded).find(std::string("nothing was lost\n") + lines) !=
          std::string::npos);
    CHECK(text_of(analysis::table_of(loaded)).find(lines) != std::string::npos);
    const json told = parse_json(analysis::info_json(loaded));
    CHECK(told["health"]["without_data"].elements.size() == 2);
    CHECK(told["health"]["without_data"][0].text == "memory");
}

TEST_CASE("a feature that the header calls one without data, and that was not asked for, is not "
          "named") {
    trace_builder built;
    built.on(1).scope(built.site("work"), 100, 200);
    built.header.without_data = ~std::uint64_t{0};
    CHECK(analysis::loss_notes(load(built)).find("Asked for") == std::string::npos);
}
