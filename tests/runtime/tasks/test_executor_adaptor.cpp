// SPDX-License-Identifier: Apache-2.0

// executor_adaptor: its jobs and coroutines, and the tasks that they are in the trace.

#include <coroscope/executor_adaptor.hpp>
#include <coroscope/task.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

#include "../support/awaitables.hpp"
#include "../support/executors.hpp"
#include "../support/foreign.hpp"
#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

foreign::manual<foreign::declared> posts_a_job(executor_adaptor<manual_executor&>& executor) {
    COROSCOPE("poster");
    executor.execute([] { COROSCOPE("job body"); });
    co_return;
}
foreign::manual<foreign::declared> schedules(executor_adaptor<manual_executor&>& executor) {
    COROSCOPE("schedules");
    co_await executor.schedule();
    co_await COROSCOPE_AWAIT("second hop", executor.schedule());
}
foreign::manual<foreign::declared> is_resumed(slot& into) { co_await suspend_into(into); }

struct copying_executor {
    std::function<void()>* last;
    void execute(std::function<void()> body) const { *last = std::move(body); }
};
foreign::manual<foreign::declared> hops_to(executor_adaptor<copying_executor>& executor) {
    co_await executor.schedule();
}
/// An executor that uses itself until its call returns, although another thread may have run the
/// job by then.
struct lingering_executor {
    bool* lived;
    volatile bool alive = true;
    explicit lingering_executor(bool& at_return) noexcept : lived(&at_return) {}
    lingering_executor(const lingering_executor& other) noexcept : lived(other.lived) {}
    lingering_executor& operator=(const lingering_executor&) = delete;
    ~lingering_executor() { alive = false; }

    template <class Job>
    void execute(Job&& body) const {
        bool& at_return = *lived;
        std::thread([&body] { body(); }).join();
        at_return = alive;
    }
};
task<> hops_in_its_frame(bool& lived) {
    executor_adaptor<lingering_executor> tasks{lingering_executor(lived)};
    co_await tasks.schedule();
}
struct moved_executor {
    std::unique_ptr<int> only_movable;
    template <class Job>
    void post(Job&& body) const {
        body();
    }
};

}  // namespace

TEST_SUITE("executor_adaptor") {
    TEST_CASE(
        "a job that resumes no task is a task of its own, a child of the task that posted it") {
        recording session;
        manual_executor queue;
        executor_adaptor executor(queue);
        posts_a_job(executor).resume();
        CHECK(queue.size() == 1);
        queue.run();
        const recorded found = session.stop();
        const auto& body = found.event("job body");
        REQUIRE(body.task != analysis::none);
        const auto& job = found.trace.tasks[body.task];
        CHECK(job.job);
        CHECK(job.parent == found.task_index("posts_a_job"));
        CHECK(job.state == analysis::task_state::finished);
        CHECK(job.time.queued_ns > 0);
        CHECK(job.slices.size() == 1);
        check_sum(job, found.trace.duration_ns);
    }

    TEST_CASE("a job that resumes a task is the wake of that task, and no task itself") {
        recording session;
        manual_executor queue;
        executor_adaptor executor(queue);
        slot into;
        auto coroutine = is_resumed(into);
        coroutine.resume();
        executor.execute([&into] { into.resume(); });
        queue.run();
        CHECK(current_context().task == 0);
        const recorded found = session.stop();
        CHECK(found.trace.tasks.size() == 1);
        const auto awaits = found.awaits(found.task("is_resumed"));
        REQUIRE(awaits.size() == 1);
        REQUIRE(awaits[0].wake_ns);
        CHECK(*awaits[0].wake_ns > awaits[0].suspend_ns);
        CHECK(*awaits[0].wake_ns <= *awaits[0].resume_ns);
        CHECK(found.task("is_resumed").time.waiting_ns == 0);
        CHECK(found.task("is_resumed").time.queued_ns > 0);
    }

    TEST_CASE("a job that works before it resumes a task is a task itself, and the waker of the "
              "resumed task") {
        recording session;
        manual_executor queue;
        executor_adaptor executor(queue);
        slot into;
        auto coroutine = is_resumed(into);
        coroutine.resume();
        executor.execute([&into] {
            {
                COROSCOPE("work");
            }
            into.resume();
        });
        queue.run();
        const recorded found = session.stop();
        CHECK(found.trace.tasks.size() == 2);
        const std::uint32_t job = found.event("work").task;
        REQUIRE(job != analysis::none);
        CHECK(found.trace.tasks[job].job);
        CHECK(found.trace.tasks[job].time.queued_ns > 0);
        const auto& task = found.task("is_resumed");
        CHECK(task.time.queued_ns == 0);
        CHECK(task.time.suspended_ns > 0);
        CHECK(task.time.waiting_ns == 0);
        REQUIRE(found.awaits(task).size() == 1);
        CHECK(found.awaits(task)[0].waker == job);
        CHECK(found.awaits(task)[0].wake_ns == found.awaits(task)[0].resume_ns);
    }

    TEST_CASE("a coroutine continues on the executor, and is queued from its request on") {
        recording session;
        manual_executor queue;
        executor_adaptor executor(queue);
        auto coroutine = schedules(executor);
        coroutine.resume();
        CHECK(queue.run_one());
        CHECK(queue.run_one());
        CHECK(coroutine.done());
        const recorded found = session.stop();
        CHECK(found.trace.tasks.size() == 1);
        const auto& task = found.task("schedules");
        const auto awaits = found.awaits(task);
        REQUIRE(awaits.size() == 2);
        for (const auto& each : awaits) CHECK(each.wake_ns);
        CHECK(found.site_label(awaits[1].site) == "second hop");
        CHECK(task.time.waiting_ns == 0);
        CHECK(task.time.queued_ns > 0);
    }

    TEST_CASE("an exception passes through a job, and the job's state is failed") {
        recording session;
        manual_executor queue;
        executor_adaptor executor(queue);
        executor.execute([] { throw std::runtime_error("in job"); });
        CHECK_THROWS_WITH_AS(queue.run_one(), "in job", std::runtime_error);
        CHECK(current_context().task == 0);
        const recorded found = session.stop();
        REQUIRE(found.trace.tasks.size() == 1);
        CHECK(found.trace.tasks[0].state == analysis::task_state::failed);
    }

    TEST_CASE("a move-only job works, and an executor may copy a copyable job") {
        manual_executor queue;
        executor_adaptor executor(queue);
        int seen = 0;
        executor.execute([value = std::make_unique<int>(3), &seen] { seen = *value; });
        queue.run();
        CHECK(seen == 3);
        std::function<void()> last;
        executor_adaptor<copying_executor> copying{copying_executor{&last}};
        copying.post([&seen] { ++seen; });
        const std::function<void()> copy = last;
        copy();
        CHECK(seen == 4);
    }

    TEST_CASE("an executor may be held by value, and may be move-only") {
        executor_adaptor<moved_executor> executor{moved_executor{std::make_unique<int>(1)}};
        int ran = 0;
        executor.execute([&ran] { ++ran; });
        CHECK(ran == 1);
    }

    TEST_CASE("an adaptor that owns its executor may be in the coroutine that it resumes: the "
              "executor lives until its call returns") {
        bool lived = false;
        sync_wait(hops_in_its_frame(lived));
        CHECK(lived);
    }

    TEST_CASE("a job may be callable as an lvalue only") {
        struct kept_job {
            int* ran;
            void operator()() & { ++*ran; }
        };
        manual_executor queue;
        executor_adaptor executor(queue);
        int ran = 0;
        executor.execute(kept_job{&ran});
        queue.run();
        CHECK(ran == 1);
    }

    TEST_CASE("a job that never runs is a cancelled task") {
        recording session;
        manual_executor queue;
        executor_adaptor executor(queue);
        executor.execute([] {});
        queue.clear();
        const recorded found = session.stop();
        REQUIRE(found.trace.tasks.size() == 1);
        CHECK(found.trace.tasks[0].slices.empty());
        CHECK(found.trace.tasks[0].state == analysis::task_state::cancelled);
    }

    TEST_CASE("a job that a pool has copied and drops is a cancelled task") {
        recording session;
        {
            std::function<void()> last;
            executor_adaptor<copying_executor> executor{copying_executor{&last}};
            executor.execute([] { FAIL("it must not run"); });
            const std::function<void()> copy = last;
        }
        const recorded found = session.stop();
        REQUIRE(found.trace.tasks.size() == 1);
        CHECK(found.trace.tasks[0].slices.empty());
        CHECK(found.trace.tasks[0].state == analysis::task_state::cancelled);
    }

    TEST_CASE("copies of a job that has run cancel nothing when they are dropped") {
        recording session;
        {
            std::function<void()> last;
            executor_adaptor<copying_executor> executor{copying_executor{&last}};
            executor.execute([] {});
            std::function<void()> runs = last;
            const std::function<void()> left = last;
            runs();
        }
        const recorded found = session.stop();
        REQUIRE(found.trace.tasks.size() == 1);
        CHECK(found.trace.tasks[0].slices.size() == 1);
        CHECK(found.trace.tasks[0].state == analysis::task_state::finished);
    }

    TEST_CASE("a coroutine that a pool drops is one task, and leaves no job") {
        recording session;
        {
            std::function<void()> last;
            executor_adaptor<copying_executor> executor{copying_executor{&last}};
            auto coroutine = hops_to(executor);
            coroutine.resume();
            const std::function<void()> copy = last;
            last = nullptr;
        }
        const recorded found = session.stop();
        REQUIRE(found.trace.tasks.size() == 1);
        CHECK(found.trace.tasks[0].state == analysis::task_state::abandoned);
        CHECK_FALSE(found.trace.tasks[0].job);
    }

    TEST_CASE("a job is cancelled in its own session, whichever thread destroys it") {
        recording session({.all_threads = false});
        manual_executor first, second;
        executor_adaptor(first).execute([] {});
        executor_adaptor(second).execute([] {});
        std::thread([&first] { first.clear(); }).join();
        std::thread([&second] {
            recording other({.all_threads = false});
            sync_wait([](manual_executor& queue) -> task<void> {
                queue.clear();
                co_return;
            }(second));
            CHECK(other.stop().trace.tasks.size() == 1);  // the task that cleared the queue
        }).join();
        const recorded found = session.stop();
        REQUIRE(found.trace.tasks.size() == 2);
        for (const analysis::task_info& each : found.trace.tasks)
            CHECK(each.state == analysis::task_state::cancelled);
    }

    TEST_CASE("a suspended task is abandoned in its own session, whichever thread destroys it") {
        recording session({.all_threads = false});
        slot at;
        auto first = std::make_unique<foreign::manual<foreign::declared>>(is_resumed(at));
        auto second = std::make_unique<foreign::manual<foreign::declared>>(is_resumed(at));
        first->resume();
        second->resume();
        std::thread([&first] { first.reset(); }).join();
        std::thread([&second] {
            recording other({.all_threads = false});
            second.reset();
            CHECK(other.stop().trace.tasks.empty());
        }).join();
        const recorded found = session.stop();
        REQUIRE(found.trace.tasks.size() == 2);
        for (const analysis::task_info& each : found.trace.tasks)
            CHECK(each.state == analysis::task_state::abandoned);
    }

    TEST_CASE("jobs follow a session of one thread to the threads that run them") {
        recording session({.all_threads = false});
        {
            thread_executor threads;
            executor_adaptor executor(threads);
            executor.execute([] { COROSCOPE("followed"); });
            threads.post([] { COROSCOPE("not followed"); });
        }
        const recorded found = session.stop();
        CHECK(found.count("followed") == 1);
        CHECK(found.count("not followed") == 0);
    }
}
