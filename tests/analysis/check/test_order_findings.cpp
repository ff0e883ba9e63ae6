// SPDX-License-Identifier: Apache-2.0

// Findings about the order and the number of jobs that an executor runs.

#include <coroscope/analysis/findings.hpp>

#include <algorithm>
#include <string_view>

#include <doctest/doctest.h>

#include "checked_service.hpp"

using namespace coroscope;
using test::checked_service;
using test::finding_of;
using test::ms;
using test::only_finding;
using test::us;
using trace::executor_kind;

namespace {

/// Batches of eight requests become ready for executor 1. Each computes for 2 ms in the scope
/// `resize`, one after the other on thread 1.
analysis::findings equal_jobs(executor_kind kind, std::int64_t between_wakes) {
    checked_service service;
    test::trace_builder& built = service.built;
    const auto resize = built.site("resize", "image.cpp", 9);
    built.executor(1, kind, "workers", kind == executor_kind::strand ? 2 : 0);
    if (kind == executor_kind::strand) built.executor(2, executor_kind::thread_pool, "pool");
    for (int batch = 0; batch < 3; ++batch) {
        const std::int64_t from = service.now;
        std::uint64_t tasks[8];
        for (int at = 0; at < 8; ++at) {
            tasks[at] = service.begin_at(from + 10 * at * us);
            built.on(1).suspend(from + (10 * at + 5) * us, tasks[at]);
        }
        service.now += ms;
        for (int at = 0; at < 8; ++at) {
            built.on(2).wake(from + ms + at * between_wakes, tasks[at], 0, 2, 1);
            const std::int64_t run = std::max(service.now, from + ms + at * between_wakes);
            built.on(1).resume(run, tasks[at], 0, 0, 1).scope(resize, run + us, run + 2 * ms - us);
            service.end_at(tasks[at], from + 10 * at * us, run + 2 * ms);
            service.now = run + 2 * ms + us;
        }
        service.now += 10 * ms;
    }
    return analysis::check(service.trace());
}

struct other_jobs {
    std::uint32_t threads = 1;  // of the executor
    int on_each = 1;            // jobs before the request, on each of these threads
    std::int64_t job_ns = 5 * ms;
    executor_kind kind = executor_kind::thread_pool;
    bool are_open_requests = false;  // the jobs are requests that do not end, without a scope
    bool open_scopes_unknown = false;
};

/// Ten requests become ready for an executor after other jobs, which run before it in the scope
/// `export`.
analysis::trace service_behind(const other_jobs& other) {
    checked_service service;
    test::trace_builder& built = service.built;
    const auto work = built.site("export", "report.cpp", 9);
    const auto report = built.site("report", "report.cpp", 8, trace::site_kind::coroutine);
    const auto job = other.are_open_requests ? service.coroutine : report;
    built.executor(1, other.kind, "workers");
    std::uint64_t last = 1000;
    for (int request = 0; request < 10; ++request) {
        const std::uint64_t task = service.begin();
        const std::int64_t begin = service.now;
        const std::int64_t from = begin + 100 * us;
        built.on(1).suspend(begin + 10 * us, task);
        for (std::uint32_t at = 0; at < other.threads; ++at) {
            const std::uint32_t thread = at == 0 ? 1 : 3 + at;
            for (int run = 0; run < other.on_each; ++run) {
                const std::int64_t start = from + run * other.job_ns;
                built.on(2).spawn(from, ++last, job, trace::spawn_ready | trace::spawn_on(1));
                built.on(thread).resume(start, last, 0, 0, 1);
                if (other.are_open_requests)
                    built.on(thread).suspend(start + other.job_ns, last);
                else
                    built.on(thread)
                        .scope(work, start + us, start + other.job_ns - us)
                        .finish(start + other.job_ns, last);
            }
        }
        built.on(2).wake(from + 2 * us, task, 0, 2, 1);
        const std::int64_t run = from + other.on_each * other.job_ns + us;
        built.on(1).resume(run, task, 0, 0, 1);
        service.now = run + 50 * us;
        service.end();
    }
    analysis::trace made = service.trace();
    made.health.open_scopes_unknown = other.open_scopes_unknown;
    return made;
}

analysis::findings behind_others(const other_jobs& other) {
    return analysis::check(service_behind(other));
}

/// The session recorded each switch of the thread of the executor, which was always in that state.
void keep_states(analysis::trace& from, analysis::thread_state always) {
    from.states.source = trace::thread_state_source::switches;
    from.states.histories.resize(from.threads.size());
    analysis::state_point end{.time_ns = from.duration_ns};
    (always == analysis::thread_state::blocked ? end.blocked_ns : end.on_cpu_ns) = end.time_ns;
    from.states.histories[0].points = {{.state = always}, end};
}

/// Five times a job keeps the only thread of executor 1 for 20 ms in the scope `export`. Eight
/// requests become ready at its start, and run for 1 ms each after it.
analysis::findings gathered_behind_a_job(executor_kind kind) {
    checked_service service;
    test::trace_builder& built = service.built;
    const auto work = built.site("export", "report.cpp", 9);
    const auto job = built.site("report", "report.cpp", 8, trace::site_kind::coroutine);
    const auto answer = built.site("answer", "server.cpp", 9);
    built.executor(1, kind, "workers", kind == executor_kind::strand ? 2 : 0);
    if (kind == executor_kind::strand) built.executor(2, executor_kind::thread_pool, "pool");
    for (std::uint64_t round = 0; round < 5; ++round) {
        const std::int64_t from = service.now;
        std::uint64_t tasks[8];
        for (int at = 0; at < 8; ++at) {
            tasks[at] = service.begin_at(from + 10 * at * us);
            built.on(1).suspend(from + (10 * at + 5) * us, tasks[at]);
        }
        const std::int64_t start = from + 200 * us;
        std::int64_t run = start + 20 * ms;
        built.on(2).spawn(start, 1000 + round, job, trace::spawn_ready | trace::spawn_on(1));
        built.on(1)
            .resume(start, 1000 + round, 0, 0, 1)
            .scope(work, start + us, run - us)
            .finish(run, 1000 + round);
        for (int at = 0; at < 8; ++at) {
            built.on(2).wake(start + (10 + at) * us, tasks[at], 0, 2, 1);
            built.on(1).resume(run + us, tasks[at], 0, 0, 1);
            built.on(1).scope(answer, run + 2 * us, run + ms - us);
            service.end_at(tasks[at], from + 10 * at * us, run + ms);
            run += ms;
        }
        service.now = run + 10 * ms;
    }
    return analysis::check(service.trace());
}

/// A task with a timer keeps the thread of a loop for 5 ms, each 30 ms or at other times, and a
/// request becomes ready meanwhile.
analysis::findings background_task(bool is_regular) {
    checked_service service;
    test::trace_builder& built = service.built;
    const auto work = built.site("collect", "garbage.cpp", 9);
    const auto timer = service.await_named("pause");
    constexpr std::uint64_t collector = 1000;
    built.executor(1, executor_kind::io_context, "loop");
    built.on(1).spawn(service.now, collector, 0, trace::spawn_started);
    built.on(1).suspend(service.now + us, collector, timer);
    for (int round = 0; round < 10; ++round) {
        service.now += is_regular ? 20 * ms : (1 + round % 5 * round) * 7 * ms;
        const std::uint64_t task = service.begin();
        const std::int64_t from = service.now + 10 * us;
        built.on(1).suspend(from - us, task);
        service.expire(1, from, collector);
        built.on(1)
            .resume(from, collector, 0, 0, 1)
            .scope(work, from + us, from + 5 * ms - us)
            .suspend(from + 5 * ms, collector, timer);
        built.on(2).wake(from + 10 * us, task, 0, 2, 1);
        built.on(1).resume(from + 5 * ms + us, task, 0, 0, 1);
        service.now = from + 5 * ms + 50 * us;
        service.end();
    }
    return analysis::check(service.trace());
}

/// A job without scopes runs on one of the two threads of a pool all the time. On the other one, ten
/// requests wait behind jobs with a scope.
analysis::findings beside_a_long_job(bool ends) {
    checked_service service;
    test::trace_builder& built = service.built;
    const auto work = built.site("export", "report.cpp", 9);
    const auto job = built.site("report", "report.cpp", 8, trace::site_kind::coroutine);
    const auto upload = built.site("upload", "upload.cpp", 8, trace::site_kind::coroutine);
    constexpr std::uint64_t long_job = 1000;
    built.executor(1, executor_kind::thread_pool, "workers");
    built.on(2).spawn(service.now, long_job, upload, trace::spawn_ready | trace::spawn_on(1));
    built.on(4).resume(service.now + us, long_job, 0, 0, 1);
    for (std::uint64_t request = 1; request <= 10; ++request) {
        const std::uint64_t task = service.begin();
        const std::int64_t from = service.now + 100 * us;
        built.on(1).suspend(from - us, task);
        built.on(2).spawn(from, long_job + request, job, trace::spawn_ready | trace::spawn_on(1));
        built.on(1)
            .resume(from, long_job + request, 0, 0, 1)
            .scope(work, from + us, from + 5 * ms - us)
            .finish(from + 5 * ms, long_job + request);
        built.on(2).wake(from + us, task, 0, 2, 1);
        built.on(1).resume(from + 5 * ms + us, task, 0, 0, 1);
        service.now = from + 5 * ms + 50 * us;
        service.end();
    }
    if (ends) built.on(4).finish(service.now, long_job);
    return analysis::check(service.trace());
}

bool names(const analysis::findings& found, std::string_view label) {
    return std::ranges::any_of(
        found.found, [&](const analysis::finding& each) { return each.cause.label == label; });
}

}  // namespace

TEST_SUITE("findings about the order of jobs") {
    TEST_CASE("an executor whose equal jobs wait for each other is too small") {
        const auto found = equal_jobs(executor_kind::thread_pool, 0);
        const analysis::finding only = only_finding(found, "executor-too-small");
        CHECK(only.cause.label == "resize");
        CHECK(only.victims.front().place.label == "GET /item");
        CHECK(only.cost_ns > 3 * 27 * 2 * ms);
        CHECK(only.cost_ns < 3 * 29 * 2 * ms);
    }

    TEST_CASE("a strand whose equal jobs wait for each other serialises the work") {
        const auto found = equal_jobs(executor_kind::strand, 0);
        const analysis::finding only = only_finding(found, "hot-strand");
        CHECK(only.cause.label == "resize");
        CHECK(only.cost_ns > 3 * 27 * 2 * ms);
    }

    TEST_CASE("jobs that gather behind a slow one do not make their executor too small, or their "
              "strand hot") {
        const auto on_pool = gathered_behind_a_job(executor_kind::thread_pool);
        CHECK(only_finding(on_pool, "long-computation").cause.label == "export");
        const auto on_strand = gathered_behind_a_job(executor_kind::strand);
        CHECK(only_finding(on_strand, "hot-strand").cause.label == "export");
    }

    TEST_CASE("jobs that become ready one after the other do not wait") {
        for (const executor_kind kind : {executor_kind::thread_pool, executor_kind::strand})
            CHECK(equal_jobs(kind, 3 * ms).found.empty());
    }

    TEST_CASE("slow jobs that occupy all threads of a pool delay the short ones") {
        const auto found = behind_others({.threads = 2});
        const analysis::finding only = only_finding(found, "head-of-line");
        CHECK(only.cause.label == "export");
        CHECK(only.victims.front().count == 10);
        CHECK(only.cost_ns > 10 * 4 * ms);
        CHECK(only.cost_ns <= 10 * 5 * ms);
        CHECK(behind_others({.threads = 2, .job_ns = 50 * us}).found.empty());
    }

    TEST_CASE("a job that ran up to the end of the session is no cause: its scope may be missing") {
        CHECK(names(beside_a_long_job(true), "upload"));
        CHECK(names(beside_a_long_job(true), "export"));
        CHECK_FALSE(names(beside_a_long_job(false), "upload"));
        CHECK(names(beside_a_long_job(false), "export"));
    }

    TEST_CASE("a backlog of jobs of another kind runs first") {
        const auto found = behind_others({.on_each = 8, .job_ns = 700 * us});
        const analysis::finding only = only_finding(found, "priority-inversion");
        CHECK(only.cause.label == "export");
        CHECK(only.cost_ns > 10 * 5 * ms);
        CHECK(only.cost_ns <= 10 * 8 * 700 * us);
    }

    TEST_CASE("blocked jobs are no backlog if the holder of their lock may be lost") {
        using analysis::thread_state;
        for (const thread_state always : {thread_state::on_cpu, thread_state::blocked}) {
            analysis::trace from = service_behind({.on_each = 8, .job_ns = 700 * us});
            keep_states(from, always);
            CHECK(finding_of(analysis::check(from), "priority-inversion") != nullptr);
            from.health.overwritten = 1;
            const analysis::findings found = analysis::check(from);
            CHECK((finding_of(found, "priority-inversion") == nullptr) ==
                  (always == thread_state::blocked));
            test::look_at_runs(from, 35);
            CHECK(finding_of(analysis::check(from), "priority-inversion") != nullptr);
        }
    }

    TEST_CASE("requests whose scopes were open at the end are no jobs of another kind") {
        for (const bool unknown : {false, true}) {
            const auto found = behind_others({.on_each = 8,
                                              .job_ns = 700 * us,
                                              .are_open_requests = true,
                                              .open_scopes_unknown = unknown});
            CHECK((finding_of(found, "priority-inversion") == nullptr) == unknown);
        }
    }

    TEST_CASE("one or two jobs ahead are no backlog") {
        for (const int jobs : {1, 2})
            CHECK(finding_of(behind_others({.on_each = jobs, .job_ns = 700 * us}),
                             "priority-inversion") == nullptr);
    }

    TEST_CASE("a task that its timer wakes at equal times pauses the requests") {
        const auto found = background_task(true);
        const analysis::finding only = only_finding(found, "periodic-pauses");
        CHECK(only.cause.label == "collect");
        CHECK(only.count == 10);
        CHECK(only.cost_ns > 10 * 4 * ms);
    }

    TEST_CASE("the same task at irregular times is a long computation") {
        CHECK(only_finding(background_task(false), "long-computation").cause.label == "collect");
    }

    TEST_CASE("rules about queues do not run without executors") {
        checked_service service;
        service.begin();
        service.end();
        const analysis::findings found = analysis::check(service.trace());
        for (const std::string_view rule :
             {"blocking-call", "long-computation", "executor-too-small", "hot-strand",
              "head-of-line", "priority-inversion", "periodic-pauses", "ping-pong"})
            CHECK(test::could_not_run(found, rule));
    }
}
