// SPDX-License-Identifier: Apache-2.0

// Executors: their queues, their threads, and the time in which these were busy.

#include "loading.hpp"
#include <coroscope/analysis/executor_statistics.hpp>
#include <coroscope/analysis/views.hpp>
#include <doctest/doctest.h>

using namespace coroscope;
using namespace coroscope::test;
using coroscope::trace::executor_kind;

namespace {

constexpr std::uint32_t ready_on(std::uint32_t executor) {
    return trace::spawn_ready | trace::spawn_on(executor);
}

// A pool of one thread that gets four jobs at once and runs each for 100 ns.
trace_builder one_busy_thread() {
    trace_builder built;
    built.lasts(10'000).executor(1, executor_kind::thread_pool, "workers");
    const auto resize = built.site("resize", "jobs.cpp", 3, trace::site_kind::job);
    const auto scale = built.site("scale");
    auto poster = built.on(9);
    auto worker = built.on(1);
    for (std::uint64_t task = 11; task <= 14; ++task) poster.spawn(100, task, resize, ready_on(1));
    for (std::int64_t each = 0; each < 4; ++each) {
        const auto task = static_cast<std::uint64_t>(11 + each);
        worker.resume(200 + 100 * each, task)
            .long_scope(scale, 210 + 100 * each, 290 + 100 * each, 0, task)
            .finish(300 + 100 * each, task);
    }
    return built;
}

// Jobs of a strand, which run within a job of its pool. The pool's other thread is idle meanwhile.
trace_builder strand_on_a_pool() {
    trace_builder built;
    built.lasts(10'000)
        .executor(1, executor_kind::context)
        .executor(1, executor_kind::thread_pool)
        .executor(2, executor_kind::strand, "", 1);
    const auto invoker = built.site("execute", "", 0, trace::site_kind::operation);
    const auto work = built.site("work", "", 0, trace::site_kind::operation);
    built.on(9)
        .spawn(40, 30, work, ready_on(1))
        .spawn(100, 20, invoker, ready_on(1))
        .spawn(100, 21, work, ready_on(2))
        .spawn(130, 22, work, ready_on(2));
    built.on(2).resume(50, 30).finish(60, 30);
    built.on(1)
        .resume(110, 20, 0, 0, 1)
        .resume(120, 21, 20, 0, 2)
        .finish(220, 21, 20)
        .resume(220, 22, 20, 0, 2)
        .finish(320, 22, 20)
        .finish(330, 20);
    return built;
}

const analysis::executor_statistics&
of_number(const analysis::trace& loaded, const std::vector<analysis::executor_statistics>& all,
          std::uint32_t number) {
    const auto found = std::ranges::find_if(
        all, [&](const auto& each) { return loaded.executors[each.executor].number == number; });
    REQUIRE(found != all.end());
    return *found;
}

}  // namespace

TEST_SUITE("statistics of executors") {
    TEST_CASE(
        "a pool whose thread is always busy has its queue, its queued times and its occupant") {
        const auto loaded = load(one_busy_thread());
        const auto found = analysis::statistics_of_executors(loaded);
        REQUIRE(found.size() == 1);
        const analysis::executor_statistics& pool = found[0];
        CHECK(analysis::name_of_executor(loaded, pool.executor) == "workers");
        REQUIRE(pool.threads.size() == 1);
        CHECK(loaded.threads[pool.threads[0]].id == 1);
        CHECK(pool.jobs == 4);
        CHECK(pool.waiting == 0);
        CHECK(pool.busy_ns == 400);
        CHECK(pool.states.unknown_ns == 400);
        CHECK(pool.span_ns == 500);
        CHECK(pool.mean_length_hundredths == 200);
        CHECK(pool.p99_length == 4);
        CHECK(pool.max_length == 4);
        CHECK(pool.queued.count == 4);
        CHECK(pool.queued.p50_ns == 200);
        CHECK(pool.queued.p99_ns == 400);
        CHECK(pool.queued.max_ns == 400);
        CHECK(pool.queued_ns == 1'000);
        CHECK(pool.queued_while_busy_ns == 600);
        CHECK(analysis::is_saturated(pool));
        CHECK(loaded.sites[pool.occupant.spawn_site].label == "resize");
        CHECK(loaded.strings[pool.occupant.scope] == "scale");
        CHECK(pool.occupant.time_ns == 400);
        CHECK(
            analysis::saturation_notes(loaded, found) ==
            "saturated: workers: in 60 % of the queued time of its jobs all its threads were busy; "
            "mostly resize in scale\n");
    }

    TEST_CASE("jobs that wait beside an idle thread do not make a pool saturated") {
        trace_builder built = one_busy_thread();
        built.on(9).spawn(90, 50, 0, ready_on(1));
        built.on(2).resume(95, 50).finish(96, 50);
        const auto loaded = load(built);
        const auto found = analysis::statistics_of_executors(loaded);
        REQUIRE(found.size() == 1);
        CHECK(found[0].threads.size() == 2);
        CHECK(found[0].queued_ns == 1'005);
        CHECK(found[0].queued_while_busy_ns == 0);
        CHECK_FALSE(analysis::is_saturated(found[0]));
        CHECK(analysis::saturation_notes(loaded, found).empty());
    }

    TEST_CASE("an executor with a small part of all queued time is not saturated") {
        trace_builder built = one_busy_thread();
        built.executor(2, executor_kind::thread_pool);
        built.on(9).spawn(10, 60, 0, ready_on(2)).spawn(10, 61, 0, ready_on(2));
        built.on(3).resume(200'000, 60).finish(200'010, 60).resume(200'010, 61);
        built.on(3).finish(200'020, 61);
        built.lasts(300'000);
        const auto loaded = load(built);
        const auto found = analysis::statistics_of_executors(loaded);
        const auto& small = of_number(loaded, found, 1);
        CHECK(small.queued_share < 0.01);
        CHECK_FALSE(analysis::is_saturated(small));
        CHECK(of_number(loaded, found, 2).queued_share > 0.99);
    }

    TEST_CASE("a thread that works for another executor is busy") {
        trace_builder built = one_busy_thread();
        built.executor(2, executor_kind::io_context);
        built.on(9).spawn(90, 50, 0, ready_on(1)).spawn(90, 51, 0, ready_on(2));
        built.on(2).resume(95, 50).finish(96, 50).resume(100, 51).finish(700, 51);
        const auto loaded = load(built);
        const auto found = analysis::statistics_of_executors(loaded);
        CHECK(of_number(loaded, found, 1).queued_while_busy_ns == 600);
        CHECK(of_number(loaded, found, 2).busy_ns == 600);
    }

    TEST_CASE("a thread without a processor is not busy") {
        trace_builder built = one_busy_thread();
        built.kernel().enters(1, 150).preempted(1, 350).enters(1, 450).leaves(1, 650);
        const auto loaded = load(built);
        const auto found = analysis::statistics_of_executors(loaded);
        REQUIRE(found.size() == 1);
        CHECK(found[0].states.preempted_ns == 100);
        CHECK(found[0].states.on_cpu_ns == 300);
        // 100 of job 12, 150 of job 13, 200 of job 14
        CHECK(found[0].queued_while_busy_ns == 450);
    }

    TEST_CASE("a strand is busy with its own jobs, and its pool with the jobs of the strand") {
        const auto loaded = load(strand_on_a_pool());
        const auto found = analysis::statistics_of_executors(loaded);
        REQUIRE(found.size() == 2);
        const analysis::executor_statistics& strand = of_number(loaded, found, 2);
        CHECK(analysis::name_of_executor(loaded, strand.executor) == "strand 2");
        CHECK(loaded.executors[loaded.executors[strand.executor].inner].number == 1);
        CHECK(strand.jobs == 2);
        CHECK(strand.busy_ns == 200);
        CHECK(strand.queued_ns == 20 + 90);
        CHECK(strand.queued_while_busy_ns == 90);
        CHECK(strand.max_length == 1);
        const analysis::executor_statistics& pool = of_number(loaded, found, 1);
        CHECK(loaded.executors[pool.executor].kind == executor_kind::thread_pool);
        CHECK(pool.jobs == 2);
        CHECK(pool.busy_ns == 10 + 220);
        CHECK(pool.queued_ns == 10 + 10);
        CHECK(loaded.sites[pool.occupant.spawn_site].label == "work");
        CHECK(pool.occupant.time_ns == 210);
    }

    TEST_CASE("a scope that goes on at another executor counts at each one for its time there") {
        trace_builder built;
        built.lasts(2'000)
            .executor(1, executor_kind::io_context)
            .executor(2, executor_kind::thread_pool);
        const auto handle = built.site("handle");
        const auto parse = built.site("parse");
        const auto store = built.site("store");
        constexpr std::uint32_t exact_in_frame = trace::scope_in_frame | trace::scope_exact;
        built.on(1)
            .spawn(10, 5, 0, ready_on(1))
            .resume(100, 5)
            .long_scope(parse, 100, 140, 0, 5)
            .suspend(150, 5)
            .wake(150, 5, 0, 0, 2);
        built.on(2)
            .resume(200, 5)
            .long_scope(store, 300, 400, 0, 5)
            .long_scope(handle, 140, 990, exact_in_frame, 5, 1)
            .finish(1'000, 5);
        const auto loaded = load(built);
        const auto found = analysis::statistics_of_executors(loaded);
        REQUIRE(found.size() == 2);
        const auto scope_of = [&](std::uint32_t number) {
            return loaded.strings[of_number(loaded, found, number).occupant.scope];
        };
        CHECK(scope_of(1) == "parse");   // 40 ns; handle ran 10 ns there
        CHECK(scope_of(2) == "handle");  // 690 ns; store ran 100 ns there
    }

    TEST_CASE("a wake names the executor of the slice that follows") {
        trace_builder built;
        built.lasts(1'000).executor(3, executor_kind::fibers);
        built.on(1)
            .spawn(10, 5, 0, trace::spawn_started)
            .suspend(20, 5)
            .wake(100, 5, 0, 0, 3)
            .resume(300, 5)
            .finish(400, 5);
        const auto loaded = load(built);
        REQUIRE(loaded.awaits.size() == 1);
        REQUIRE(loaded.awaits[0].executor != analysis::none);
        CHECK(loaded.executors[loaded.awaits[0].executor].number == 3);
        const auto found = analysis::statistics_of_executors(loaded);
        REQUIRE(found.size() == 1);
        CHECK(found[0].jobs == 1);
        CHECK(found[0].queued_ns == 200);
    }

    TEST_CASE("a slice that a transfer began belongs to the executor of the slice before") {
        trace_builder built;
        built.lasts(1'000).executor(1, executor_kind::io_context);
        built.on(1)
            .spawn(10, 5, 0, ready_on(1))
            .resume(100, 5)
            .spawn(110, 6)
            .transfer(200, 5, 6)
            .finish_transfer(300, 6, 5)
            .finish(400, 5);
        const auto found = analysis::statistics_of_executors(load(built));
        REQUIRE(found.size() == 1);
        CHECK(found[0].jobs == 1);
        CHECK(found[0].busy_ns == 300);
    }

    TEST_CASE("a task that a finished task resumed at once goes on at the executor of that task") {
        const auto busy_ns = [](std::int64_t woken_ns) {
            trace_builder built;
            built.lasts(1'000).executor(1, executor_kind::other);
            built.on(1).spawn(10, 5, 0, trace::spawn_started).suspend(40, 5);
            built.on(2)
                .spawn(50, 6, 0, ready_on(1))
                .resume(200, 6, 0, 0, 1)
                .finish(300, 6)
                .wake(woken_ns, 5, 6, 2)
                .resume(310, 5)
                .finish(800, 5);
            return analysis::statistics_of_executors(load(built)).front().busy_ns;
        };
        CHECK(busy_ns(310) == 590);
        CHECK(busy_ns(305) == 100);  // it was in a queue, of an unknown executor
    }

    TEST_CASE("a job that has not run is in the queue to the end") {
        trace_builder built;
        built.lasts(1'000).executor(1, executor_kind::other);
        built.on(1).spawn(400, 5, 0, ready_on(1));
        const auto loaded = load(built);
        const auto found = analysis::statistics_of_executors(loaded);
        REQUIRE(found.size() == 1);
        CHECK(analysis::name_of_executor(loaded, 0) == "executor 1");
        CHECK(found[0].jobs == 0);
        CHECK(found[0].waiting == 1);
        CHECK(found[0].queued.count == 0);
        CHECK(found[0].queued_ns == 600);
        CHECK(found[0].mean_length_hundredths == 100);
        const std::string csv = analysis::to_csv(analysis::list_executors(loaded, found));
        CHECK(csv.find("executor 1,other,,0,0,0,100,1,1,600,,,,0,no,") != std::string::npos);
    }

    TEST_CASE("the steps of a queue's length are in order, and each differs from the one before") {
        const auto loaded = load(one_busy_thread());
        const auto lengths = analysis::queue_lengths(loaded);
        REQUIRE(lengths.size() == 1);
        std::string steps;
        for (const auto& step : lengths[0])
            steps += std::to_string(step.time_ns) + ":" + std::to_string(step.length) + " ";
        CHECK(steps == "100:4 200:3 300:2 400:1 500:0 ");
    }

    TEST_CASE("an executor that the trace does not describe has its number, and a warning") {
        trace_builder built;
        built.lasts(1'000);
        built.on(1).spawn(10, 5, 0, ready_on(7)).resume(20, 5).finish(30, 5);
        const auto loaded = load(built);
        REQUIRE(loaded.executors.size() == 1);
        CHECK(loaded.executors[0].number == 7);
        CHECK_FALSE(loaded.executors[0].described);
        REQUIRE(loaded.health.warnings.size() == 1);
        CHECK(loaded.health.warnings[0] ==
              "executors that records name and the trace does not describe: 1");
    }

    TEST_CASE("the work of a folded job was queued at the job's executor") {
        trace_builder built;
        built.lasts(1'000).executor(4, executor_kind::other, "db");
        built.on(1)
            .spawn(10, 5, 0, trace::spawn_started)
            .spawn(15, 6, 0, ready_on(4) | trace::spawn_job | trace::spawn_only_resumes, 5)
            .suspend(20, 5);
        built.on(2).resume(100, 6).resume(110, 5, 6).finish(150, 5, 6).finish(160, 6);
        const auto loaded = load(built);
        REQUIRE(loaded.tasks.size() == 1);
        const auto found = analysis::statistics_of_executors(loaded);
        REQUIRE(found.size() == 1);
        CHECK(analysis::name_of_executor(loaded, found[0].executor) == "db");
        CHECK(found[0].jobs == 1);
    }
}
