// SPDX-License-Identifier: Apache-2.0

// fiber_context: the calls of a user's scheduler for its fibers, and their records in the trace. No
// stack is switched here: code between switch_in() and switch_out() counts as running on the fiber.

#include <coroscope/fiber.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>

#include "../runtime/support/awaitables.hpp"
#include "../runtime/support/executors.hpp"
#include "../runtime/support/foreign.hpp"
#include "../runtime/support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

void nap() { spin(std::chrono::microseconds(200)); }

analysis::task_info only_fiber(const recorded& found) {
    std::optional<analysis::task_info> fiber;
    for (const auto& task : found.trace.tasks) {
        if (!task.fiber) continue;
        REQUIRE_FALSE(fiber);
        fiber = task;
    }
    REQUIRE(fiber);
    return *fiber;
}
std::uint32_t index_of(const recorded& found, const analysis::task_info& task) {
    const auto at = std::ranges::find(found.trace.tasks, task.id, &analysis::task_info::id);
    return static_cast<std::uint32_t>(at - found.trace.tasks.begin());
}

// Runs inside a fiber, which is switched out and in again in the middle. The scope spans an await
// that may suspend: clang would keep another scope on the stack, which here is the thread's stack.
foreign::manual<foreign::declared> blocks_its_fiber(fiber_context& fiber) {
    slot unused;
    COROSCOPE("in the coroutine");
    co_await maybe_pause(unused, false);
    fiber.switch_out();
    nap();
    fiber.switch_in();
    nap();
    co_return;
}

foreign::manual<foreign::declared> runs_a_fiber(fiber_context& fiber) {
    COROSCOPE("around the fiber");
    fiber.switch_in();
    nap();
    fiber.finish();
    co_return;
}

}  // namespace

TEST_SUITE("fiber_context") {
    TEST_CASE("a fiber is a task whose time is running, suspended and queued, and adds up") {
        recording session;
        {
            fiber_context fiber;
            fiber.ready();
            fiber.switch_in();
            nap();
            fiber.switch_out();
            nap();
            fiber.ready();
            nap();
            fiber.switch_in();
            fiber.finish();
        }
        CHECK(current_context().task == 0);
        const recorded found = session.stop();
        const auto& fiber = only_fiber(found);
        CHECK(fiber.state == analysis::task_state::finished);
        CHECK(fiber.slices.size() == 2);
        CHECK(fiber.time.running_ns >= nearly(200'000));
        CHECK(fiber.time.suspended_ns >= nearly(200'000));
        CHECK(fiber.time.queued_ns >= nearly(200'000));
        CHECK(fiber.time.waiting_ns == 0);
        CHECK(found.site_line(fiber.spawn_site) != 0);
        const auto awaits = found.awaits(fiber);
        REQUIRE(awaits.size() == 1);
        CHECK(found.site_line(awaits[0].site) > found.site_line(fiber.spawn_site));
        check_sum(fiber, found.trace.duration_ns);
    }

    TEST_CASE("without a known wake the time of a suspension is waiting time") {
        recording session;
        fiber_context fiber;
        fiber.switch_in();
        fiber.switch_out();
        nap();
        fiber.switch_in();
        fiber.finish();
        const recorded found = session.stop();
        CHECK(only_fiber(found).time.waiting_ns >= nearly(200'000));
        CHECK(only_fiber(found).time.suspended_ns == 0);
    }

    TEST_CASE("a wait has the name that its scheduler gives it") {
        static constinit site label{"the lock", std::source_location::current(), site_kind::await};
        recording session;
        fiber_context fiber;
        fiber.switch_in();
        fiber.switch_out(label);
        fiber.switch_in();
        fiber.finish();
        const recorded found = session.stop();
        const auto awaits = found.awaits(only_fiber(found));
        REQUIRE(awaits.size() == 1);
        CHECK(found.site_label(awaits[0].site) == "the lock");
    }

    TEST_CASE("a fiber that fails has failed, a dropped one is abandoned, and one that never ran "
              "is cancelled") {
        recording session;
        {
            fiber_context failing, dropped, unused;
            failing.switch_in();
            failing.finish(true);
            dropped.switch_in();
            dropped.switch_out();
        }
        const recorded found = session.stop();
        REQUIRE(found.trace.tasks.size() == 3);
        CHECK(found.trace.tasks[0].state == analysis::task_state::failed);
        int abandoned = 0, cancelled = 0;
        for (const auto& task : found.trace.tasks) {
            abandoned += task.state == analysis::task_state::abandoned ? 1 : 0;
            cancelled += task.state == analysis::task_state::cancelled ? 1 : 0;
        }
        CHECK(abandoned == 1);
        CHECK(cancelled == 1);
    }

    TEST_CASE("a fiber that is made outside tasks has no parent, and the task that runs it is "
              "suspended") {
        recording session;
        fiber_context fiber;
        runs_a_fiber(fiber).resume();
        const recorded found = session.stop();
        const auto& host = found.task("runs_a_fiber");
        const auto& nested = only_fiber(found);
        CHECK(nested.parent == analysis::none);
        CHECK(host.time.suspended_ns >= nested.time.running_ns);
        CHECK(found.event("around the fiber").self_running_ns <= host.time.running_ns);
        CHECK_FALSE(host.losses);
        CHECK_FALSE(nested.losses);
    }

    TEST_CASE("a coroutine on a fiber stops and continues with the fiber") {
        recording session;
        {
            fiber_context fiber;
            fiber.switch_in();
            auto coroutine = blocks_its_fiber(fiber);
            coroutine.resume();
            CHECK(coroutine.done());
            fiber.finish();
        }
        CHECK(current_context().task == 0);
        const recorded found = session.stop();
        const auto& fiber = only_fiber(found);
        const auto& coroutine = found.task("blocks_its_fiber");
        CHECK(coroutine.parent == index_of(found, fiber));
        CHECK(coroutine.slices.size() == 2);
        CHECK(fiber.slices.size() == 4);
        for (const auto* task : {&fiber, &coroutine}) {
            CHECK_FALSE(task->losses);
            CHECK(task->state == analysis::task_state::finished);
            check_sum(*task, found.trace.duration_ns);
        }
        CHECK(coroutine.time.running_ns <= fiber.time.suspended_ns);
        CHECK(coroutine.time.suspended_ns >= nearly(200'000));
        CHECK(coroutine.time.waiting_ns == 0);
        CHECK(found.split(found.event("in the coroutine")).suspended_ns ==
              coroutine.time.suspended_ns);
    }

    TEST_CASE("jobs and contexts on a fiber stop and continue with the fiber, at any depth") {
        recording session;
        {
            manual_executor queue;
            executor_adaptor executor(queue);
            fiber_context fiber;
            const context outside = current_context();
            executor.execute([&] {
                const context_guard guard(outside);
                fiber.switch_out();
                CHECK(current_context().task == 0);
                nap();
                fiber.switch_in();
                COROSCOPE("under the context");
            });
            fiber.switch_in();
            const std::uint64_t task = current_context().task;
            queue.run();
            CHECK(current_context().task == task);
            fiber.finish();
        }
        const recorded found = session.stop();
        for (const auto& task : found.trace.tasks) {
            CHECK_FALSE(task.losses);
            CHECK(task.slices.size() == (task.fiber ? 4 : 2));  // the job ran on the fiber
        }
        CHECK(found.event("under the context").task == analysis::none);
    }

    TEST_CASE("a fiber carries its session to the threads that run it, which have their own "
              "session back afterwards") {
        recording session({.all_threads = false});
        fiber_context fiber;
        {
            thread_executor other;
            other.post([&fiber] {
                {
                    COROSCOPE("before");
                }
                fiber.switch_in();
                {
                    COROSCOPE("on the fiber");
                }
                fiber.switch_out();
                {
                    COROSCOPE("behind");
                }
            });
        }
        std::thread([&fiber] { fiber.ready(); }).join();
        nap();
        fiber.switch_in();
        fiber.finish();
        const recorded found = session.stop();
        CHECK(found.count("on the fiber") == 1);
        CHECK(found.count("before") == 0);
        CHECK(found.count("behind") == 0);
        const auto& task = only_fiber(found);
        CHECK(task.slices.size() == 2);
        CHECK(task.time.queued_ns >= nearly(200'000));
        CHECK(task.time.waiting_ns == 0);
    }

    TEST_CASE("a fiber is dropped in its own session, whichever thread destroys it") {
        recording session({.all_threads = false});
        auto fiber = std::make_unique<fiber_context>();
        fiber->switch_in();
        fiber->switch_out();
        std::thread([&fiber] {
            recording other({.all_threads = false});
            fiber.reset();
            CHECK(other.stop().trace.tasks.empty());
        }).join();
        const recorded found = session.stop();
        REQUIRE(found.trace.tasks.size() == 1);
        CHECK(found.trace.tasks[0].state == analysis::task_state::abandoned);
    }

    TEST_CASE("a fiber that is older than the session is recorded from its next switch on") {
        fiber_context fiber;
        fiber.switch_in();
        recording session;
        fiber.switch_out();
        fiber.switch_in();
        {
            COROSCOPE("in the session");
        }
        fiber.finish();
        const recorded found = session.stop();
        const auto& task = only_fiber(found);
        CHECK(task.older_than_session);
        CHECK_FALSE(task.losses);
        CHECK(found.event("in the session").task == index_of(found, task));
    }

    TEST_CASE("many fibers hop between threads at once, woken by others, and all times add up") {
        constexpr int fibers = 64, rounds = 50;
        recording session;
        {
            std::deque<fiber_context> tasks;
            for (int each = 0; each < fibers; ++each) tasks.emplace_back();
            thread_executor pool(4);
            std::atomic<int> left{fibers};
            struct hopper {
                static void run(thread_executor& on, fiber_context& fiber, int more,
                                std::atomic<int>& alive) {
                    fiber.ready();
                    on.post([&on, &fiber, more, &alive] {
                        fiber.switch_in();
                        {
                            COROSCOPE("hop");
                        }
                        if (more == 0) {
                            fiber.finish();
                            --alive;
                            return;
                        }
                        fiber.switch_out();
                        run(on, fiber, more - 1, alive);
                    });
                }
            };
            for (fiber_context& each : tasks) hopper::run(pool, each, rounds - 1, left);
            while (left.load() != 0) std::this_thread::yield();
        }
        const recorded found = session.stop();
        CHECK(found.trace.tasks.size() == fibers);
        CHECK(found.count("hop") == fibers * rounds);
        for (const auto& task : found.trace.tasks) {
            CHECK_FALSE(task.losses);
            CHECK(task.slices.size() == rounds);
            CHECK(task.time.waiting_ns == 0);
            check_sum(task, found.trace.duration_ns);
        }
    }
}
