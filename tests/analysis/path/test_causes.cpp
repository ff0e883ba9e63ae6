// SPDX-License-Identifier: Apache-2.0

// The causes of slow requests, and the limits of the proof that a trace gives.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <coroscope/analysis/slow_requests.hpp>
#include <coroscope/analysis/views.hpp>
#include <doctest/doctest.h>

#include "loaded_trace.hpp"
#include "path_texts.hpp"

using namespace coroscope;
using analysis::cause_role;
using analysis::path_kind;
using test::loaded;
using test::path_of;
using test::texts;
using test::texts_of;

namespace {

constexpr std::int64_t one_ms = 1'000'000;
constexpr std::uint64_t last_request = 20;

// Twenty requests, which are tasks on thread 1 and last for `fast_ns`; the last one for `slow_ns`.
struct twenty_requests {
    std::int64_t fast_ns = 1000;
    std::int64_t slow_ns = 10 * one_ms;
    test::trace_builder built;
    std::uint32_t serve = built.site("serve", "server.cpp", 1, trace::site_kind::coroutine);

    // Calls wait(task, from_ns, to_ns) for each request. It must suspend and resume the task.
    analysis::trace
    trace(const std::function<void(std::uint64_t, std::int64_t, std::int64_t)>& wait) {
        std::int64_t now = one_ms;
        for (std::uint64_t task = 1; task <= last_request; ++task) {
            const std::int64_t end = now + (task == last_request ? slow_ns : fast_ns);
            built.on(1).spawn(now, task, serve, trace::spawn_started);
            wait(task, now + 10, end);
            built.on(1).finish(end + 10, task);
            now = end + 1000;
        }
        return loaded(built.lasts(now + one_ms));
    }
};

struct named_job {
    const char* name;
    std::int64_t ns;
};

// The requests are queued for thread 1 from their first moment on. Meanwhile it runs these jobs.
analysis::trace behind(const std::vector<named_job>& fast, const std::vector<named_job>& slow) {
    const auto sum = [](const std::vector<named_job>& jobs) {
        std::int64_t sum_ns = 1000;
        for (const named_job& each : jobs) sum_ns += each.ns;
        return sum_ns;
    };
    twenty_requests service;
    service.fast_ns = sum(fast);
    service.slow_ns = sum(slow);
    std::uint64_t job = 1000;
    return service.trace([&](std::uint64_t task, std::int64_t from, std::int64_t to) {
        test::trace_builder& built = service.built;
        built.on(1).suspend(from, task);
        built.on(2).wake(from, task, 0, 2);
        std::int64_t now = from + 10;
        for (const named_job& each : task == last_request ? slow : fast) {
            const auto site = built.site(each.name, "jobs.cpp", 1, trace::site_kind::coroutine);
            if (each.name != std::string("nothing")) {
                ++job;
                built.on(1).spawn(now, job, site, trace::spawn_started).finish(now + each.ns, job);
            }
            now += each.ns;
        }
        built.on(1).resume(to, task);
    });
}

analysis::slow_requests comparison_of(const analysis::trace& from) {
    const auto found = analysis::compare_slow_requests(from, analysis::requests_of(from), "serve");
    REQUIRE(found);
    REQUIRE(!found->differences.empty());
    return *found;
}

// A resource of one holder at a time, and its waits.
struct guarded {
    test::trace_builder built;
    std::uint32_t mutex = built.site("cache", "", 0, trace::site_kind::resource, "", "mutex");

    // Tasks 1 to `tasks` start at 0 on the thread of their number.
    explicit guarded(std::uint32_t tasks) {
        for (std::uint32_t task = 1; task <= tasks; ++task)
            built.on(task).spawn(0, task, 0, trace::spawn_started);
    }

    void wait(std::uint32_t task, std::int64_t from, std::int64_t to,
              const test::resource_values& of) {
        test::resource_values values = of;
        values.site = mutex;
        values.waiter = trace::make_mark(task, task);
        built.on(task).suspend(from, task).resume(to, task).resource_wait(from, to, values);
    }

    analysis::trace trace(std::uint32_t tasks) {
        for (std::uint32_t task = 1; task <= tasks; ++task) built.on(task).finish(900, task);
        return loaded(built.lasts(1000));
    }
};

std::uint64_t mark_of(std::uint32_t task) { return trace::make_mark(task, task); }

// Task 1 waits for a resource of that kind from 150 to 510. Task 2, which begins at `spawn`, wakes
// it at 500. The other values of the wait are `of`'s.
analysis::trace woken_for(const char* kind, std::int64_t spawn,
                          const test::resource_values& of = {}) {
    test::trace_builder built;
    const auto resource = built.site("slots", "", 0, trace::site_kind::resource, "", kind);
    test::resource_values values = of;
    values.site = resource;
    values.waiter = mark_of(1);
    values.capacity = 4;
    built.on(3).spawn(0, 3, 0, trace::spawn_started);
    built.on(1).spawn(0, 1, 0, trace::spawn_started).suspend(150, 1);
    built.on(2).spawn(spawn, 2, 0, trace::spawn_started).wake(500, 1, 2, 2).finish(900, 2);
    built.on(1).resume(510, 1).resource_wait(150, 510, values).finish(900, 1);
    built.on(3).finish(900, 3);
    return loaded(built.lasts(1000));
}

}  // namespace

TEST_SUITE("causes") {
    TEST_CASE("the cause is the work that took longer, not the work that always takes long") {
        constexpr std::int64_t built_compact_ns = 5 * one_ms;
        const analysis::slow_requests found = comparison_of(behind(
            {{"render", 6 * one_ms}}, {{"render", 6 * one_ms}, {"compact", built_compact_ns}}));
        const analysis::request_difference& first = found.differences.front();
        CHECK(first.kind == path_kind::queued);
        REQUIRE(first.cause);
        CHECK(first.cause->label == "compact");
        CHECK(first.cause->more_ns == built_compact_ns);
        CHECK(found.unexplained_share < 0.01);
    }

    TEST_CASE("a cause of a part of the difference has its share, and the rest is unexplained") {
        const analysis::trace from = behind({}, {{"nothing", 15 * one_ms}, {"audit", 5 * one_ms}});
        const analysis::slow_requests found = comparison_of(from);
        REQUIRE(found.differences.front().cause);
        CHECK(found.differences.front().cause->label == "audit");
        CHECK(found.unexplained_share == doctest::Approx(0.75).epsilon(0.01));
        const std::string sentence = analysis::slow_requests_sentence(from, found);
        CHECK(sentence.find(", 25 % of that because of audit") != std::string::npos);
    }

    TEST_CASE(
        "work that explains less than a fifth is not named, but does not count as unexplained") {
        const analysis::slow_requests found = comparison_of(behind({}, {{"mail", one_ms},
                                                                        {"zip", one_ms},
                                                                        {"crop", one_ms},
                                                                        {"hash", one_ms},
                                                                        {"sign", one_ms},
                                                                        {"blur", one_ms}}));
        CHECK_FALSE(found.differences.front().cause);
        CHECK(found.unexplained_share < 0.01);
    }

    TEST_CASE("the producer of a result is the cause for the time of its scope") {
        twenty_requests service;
        const auto result =
            service.built.site("future", "", 0, trace::site_kind::resource, "", "future");
        const auto deliver = service.built.site("deliver", "peer.cpp", 3);
        const analysis::trace from =
            service.trace([&](std::uint64_t task, std::int64_t begin, std::int64_t end) {
                service.built.on(2).scope(deliver, end - 5000, end + 5);
                service.built.on(1).resource_wait(begin, end,
                                                  {.site = result,
                                                   .waiter = trace::make_mark(task, 1),
                                                   .releaser = trace::make_mark(0, 2),
                                                   .released = end});
            });
        CHECK_FALSE(comparison_of(from).differences.front().cause);
    }

    TEST_CASE("a waker's work before it waited for something outside the trace explains nothing") {
        twenty_requests service;
        const auto rebuild = service.built.site("rebuild", "reader.cpp", 4);
        service.built.on(2).spawn(0, 99, 0, trace::spawn_started);
        const analysis::trace from =
            service.trace([&](std::uint64_t task, std::int64_t begin, std::int64_t end) {
                const std::int64_t asked = begin + (end - begin) * 3 / 4;
                test::trace_builder& built = service.built;
                built.on(1).suspend(begin, task);
                built.on(2).scope(rebuild, begin + 5, asked - 5).suspend(asked, 99);
                built.on(3).wake(end - 10, 99, 0, 3);
                built.on(2).resume(end - 10, 99).wake(end, task, 99, 2);
                built.on(1).resume(end, task);
            });
        const analysis::slow_requests found = comparison_of(from);
        CHECK(found.differences.front().kind == path_kind::waiting);
        CHECK(found.differences.front().label != "rebuild");
        CHECK(found.unexplained_share == doctest::Approx(0.75).epsilon(0.01));
    }

    TEST_CASE("it explains nothing either if another task or thread ended that wait") {
        using ends = std::function<void(test::trace_builder&, std::uint64_t, std::int64_t)>;
        const auto first_label = [](const ends& end_wait) {
            twenty_requests service;
            test::trace_builder& built = service.built;
            const auto rebuild = built.site("rebuild", "reader.cpp", 4);
            built.on(2).spawn(0, 99, 0, trace::spawn_started);
            built.kernel().enters(2, 0).enters(3, 0, 1);
            const analysis::trace from =
                service.trace([&](std::uint64_t task, std::int64_t begin, std::int64_t end) {
                    const std::int64_t asked = begin + (end - begin) * 3 / 4;
                    built.on(1).suspend(begin, task);
                    built.on(2).scope(rebuild, begin + 5, asked - 5).suspend(asked, 99);
                    end_wait(built, 1000 + task, end - 20);
                    built.on(2).resume(end - 10, 99).wake(end, task, 99, 2);
                    built.on(1).resume(end, task);
                });
            return comparison_of(from).differences.front().label;
        };
        const auto busy_thread = [](test::trace_builder& built, std::uint64_t, std::int64_t at) {
            built.on(3).wake(at, 99, 0, 3);
        };
        const auto new_task = [](test::trace_builder& built, std::uint64_t id, std::int64_t at) {
            built.on(3).spawn(at - 5, id, 0, trace::spawn_started);
            built.on(3).wake(at, 99, id, 3).finish(at + 1, id);
        };
        const auto older_task = [](test::trace_builder& built, std::uint64_t id, std::int64_t at) {
            const bool is_slow = id == 1000 + last_request;
            built.on(3).spawn(at - (is_slow ? 9 * one_ms : 700), id, 0, trace::spawn_started);
            built.on(3).wake(at, 99, id, 3).finish(at + 1, id);
        };
        CHECK(first_label(busy_thread) != "rebuild");
        CHECK(first_label(new_task) != "rebuild");
        CHECK(first_label(older_task) != "rebuild");
    }

    TEST_CASE("a waker's work before it waited in the middle of an item is a cause") {
        twenty_requests service;
        const auto item = service.built.site("resize", "worker.cpp", 4);
        service.built.on(2).spawn(0, 99, 0, trace::spawn_started);
        const analysis::trace from =
            service.trace([&](std::uint64_t task, std::int64_t begin, std::int64_t end) {
                const std::int64_t asked = begin + (end - begin) * 3 / 4;
                test::trace_builder& built = service.built;
                built.on(1).suspend(begin, task);
                built.on(2).suspend(asked, 99);
                built.on(3).wake(end - 10, 99, 0, 3);
                built.on(2)
                    .resume(end - 10, 99)
                    .wake(end, task, 99, 2)
                    .long_scope(item, begin + 5, end + 1, trace::scope_in_frame, 99);
                built.on(1).resume(end, task);
            });
        const analysis::slow_requests found = comparison_of(from);
        CHECK(found.differences.front().label == "resize");
        CHECK(found.unexplained_share < 0.01);
    }

    TEST_CASE("a task that a scheduler ran next was not woken by the one that ended before") {
        twenty_requests service;
        const auto report =
            service.built.site("report", "jobs.cpp", 5, trace::site_kind::coroutine);
        const analysis::trace from =
            service.trace([&](std::uint64_t task, std::int64_t begin, std::int64_t end) {
                test::trace_builder& built = service.built;
                built.on(1).suspend(begin, task);
                built.on(1)
                    .spawn(begin + 10, 1000 + task, report, trace::spawn_started)
                    .finish(end - 5, 1000 + task, task)
                    .resume(end, task, 1000 + task);
            });
        const analysis::slow_requests found = comparison_of(from);
        CHECK(found.differences.front().kind == path_kind::waiting);
        CHECK(found.unexplained_share > 0.99);
    }

    TEST_CASE("the holders of a resource share a wait") {
        guarded service(3);
        service.wait(2, 100, 300, {.holder = mark_of(3), .releaser = mark_of(3), .released = 300});
        service.wait(1, 150, 500, {.holder = mark_of(3), .releaser = mark_of(2), .released = 500});
        const analysis::trace from = service.trace(3);
        CHECK(texts_of(from, path_of(from, 1)) == texts{"0-150 running 1", "150-300 running 3",
                                                        "300-500 running 2", "500-900 running 1"});
    }

    TEST_CASE(
        "a releaser that was not the holder at the begin, and did not wait, explains nothing") {
        guarded service(3);
        service.wait(1, 150, 500, {.holder = mark_of(3), .releaser = mark_of(2), .released = 500});
        const analysis::trace from = service.trace(3);
        CHECK(texts_of(from, path_of(from, 1)) ==
              texts{"0-150 running 1", "150-500 waiting 1", "500-900 running 1"});
    }

    TEST_CASE("a holder that left its scopes before the release may have released in between") {
        guarded service(2);
        const auto tick = service.built.site("tick");
        service.built.on(2).scope(tick, 100, 200);
        service.wait(1, 150, 500, {.holder = mark_of(2), .releaser = mark_of(2), .released = 500});
        const analysis::trace from = service.trace(2);
        CHECK(texts_of(from, path_of(from, 1)) ==
              texts{"0-150 running 1", "150-500 waiting 1", "500-900 running 1"});
    }

    TEST_CASE("a holder is not one at a time at which a wait saw another one") {
        guarded service(4);
        service.wait(4, 300, 400,
                     {.holder = mark_of(3),
                      .flags = static_cast<std::uint32_t>(trace::resource_wait_gave_up)});
        service.wait(1, 150, 500, {.holder = mark_of(2), .releaser = mark_of(2), .released = 500});
        const analysis::trace from = service.trace(4);
        CHECK(texts_of(from, path_of(from, 1)) ==
              texts{"0-150 running 1", "150-500 waiting 1", "500-900 running 1"});
    }

    TEST_CASE("the task that woke a waiting one held a resource whose holders are not recorded") {
        const analysis::trace from = woken_for("pool", 0);
        const analysis::critical_path path = path_of(from, 1);
        CHECK(texts_of(from, path) == texts{"0-150 running 1", "150-500 running 2",
                                            "500-510 queued 1", "510-900 running 1"});
        REQUIRE(path.waits.size() == 1);
        CHECK(path.waits[0].edge == analysis::path_edge::resource);
    }

    TEST_CASE("a task that had one of several elements held it up to its release or to the wake") {
        for (const char* kind : {"pool", "semaphore"}) {
            const analysis::trace from =
                woken_for(kind, 0, {.holder = mark_of(3), .releaser = mark_of(3), .released = 450});
            const analysis::critical_path path = path_of(from, 1);
            CHECK(texts_of(from, path) == texts{"0-150 running 1", "150-450 running 3",
                                                "450-500 suspended 1", "500-510 queued 1",
                                                "510-900 running 1"});
            REQUIRE(path.waits.size() == 1);
            CHECK(path.waits[0].edge == analysis::path_edge::resource);
        }
        const analysis::trace late =
            woken_for("pool", 0, {.holder = mark_of(3), .releaser = mark_of(3), .released = 508});
        CHECK(texts_of(late, path_of(late, 1)) == texts{"0-150 running 1", "150-500 running 3",
                                                        "500-510 queued 1", "510-900 running 1"});
    }

    TEST_CASE(
        "a task that returns an element to a pool held nothing if the pool notes its holders") {
        const analysis::trace from = woken_for(
            "pool", 0, {.flags = static_cast<std::uint32_t>(trace::resource_wait_holders_noted)});
        CHECK(texts_of(from, path_of(from, 1)) == texts{"0-150 running 1", "150-500 suspended 1",
                                                        "500-510 queued 1", "510-900 running 1"});
    }

    TEST_CASE("a task held nothing before its spawn") {
        const analysis::trace from = woken_for("pool", 400);
        CHECK(texts_of(from, path_of(from, 1)) == texts{"0-150 running 1", "150-400 suspended 1",
                                                        "400-500 running 2", "500-510 queued 1",
                                                        "510-900 running 1"});
    }

    TEST_CASE("a task that releases a semaphore or makes room in a channel only woke the waiting "
              "one") {
        for (const char* kind : {"semaphore", "channel"}) {
            const analysis::critical_path path = path_of(woken_for(kind, 0), 1);
            REQUIRE(path.waits.size() == 1);
            CHECK(path.waits[0].edge == analysis::path_edge::wake);
        }
    }

    TEST_CASE(
        "the releaser of a lock with readers explains nothing if it is not known as the holder") {
        guarded service(2);
        service.wait(1, 150, 500,
                     {.releaser = mark_of(2),
                      .released = 500,
                      .flags = static_cast<std::uint32_t>(trace::resource_wait_shared)});
        const analysis::trace from = service.trace(2);
        CHECK(texts_of(from, path_of(from, 1)) ==
              texts{"0-150 running 1", "150-500 waiting 1", "500-900 running 1"});
    }

    TEST_CASE("a task that had ended before the await did not wake it") {
        test::trace_builder built;
        built.on(2).spawn(0, 2, 0, trace::spawn_started).finish(50, 2);
        built.on(1).spawn(60, 1, 0, trace::spawn_started).suspend(100, 1);
        built.on(2).wake(300, 1, 2, 2);
        built.on(1).resume(320, 1).finish(400, 1);
        const analysis::trace from = loaded(built);
        CHECK(texts_of(from, path_of(from, 1)) == texts{"60-100 running 1", "100-300 suspended 1",
                                                        "300-320 queued 1", "320-400 running 1"});
    }

    TEST_CASE(
        "a job that its thread left in the queue while it waited for work is behind no other job") {
        test::trace_builder built;
        const auto job = built.site("job", "jobs.cpp", 3, trace::site_kind::job);
        const auto ready = trace::spawn_ready | trace::spawn_on(1);
        built.executor(1, trace::executor_kind::thread_pool);
        for (const std::uint64_t task : {1U, 2U, 3U}) built.on(9).spawn(0, task, job, ready);
        built.on(1).resume(100, 2).finish(one_ms, 2);
        constexpr std::int64_t built_job_ns = one_ms;
        built.on(1).resume(5 * one_ms, 3).finish(5 * one_ms + built_job_ns, 3);
        built.on(1).resume(6 * one_ms, 1).finish(7 * one_ms, 1);
        built.kernel().enters(1, 0).leaves(1, one_ms + 10).enters(1, 5 * one_ms - 10);
        const analysis::trace from = loaded(built.lasts(8 * one_ms));
        const analysis::critical_path path = path_of(from, 1);
        std::int64_t charged_ns = 0;
        for (const std::uint32_t at : path.segments.front().blame) {
            const analysis::path_blame& each = path.blame[at];
            charged_ns += each.charged_ns;
            if (each.task != analysis::none && from.tasks[each.task].id == 2)
                CHECK(each.charged_ns == 0);
        }
        CHECK(charged_ns == built_job_ns);
    }
}
