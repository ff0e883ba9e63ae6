// SPDX-License-Identifier: Apache-2.0

// The parts of a task's time: known to be suspended, queued, and waiting because the wake was not
// seen. Each figure is compared with a measurement of the test itself.

#include <coroscope/coroscope.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#include "../support/awaitables.hpp"
#include "../support/executors.hpp"
#include "../support/foreign.hpp"
#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

// A timer of a library that posts the continuation. The post is the wake. The timer runs from the
// moment when it may expire.
class posted_timer {
public:
    posted_timer(thread_executor& loop, executor_adaptor<thread_executor&>& target,
                 measured_wait& sleep, const std::atomic<bool>& may_expire)
        : loop_(&loop), target_(&target), sleep_(&sleep), may_expire_(&may_expire) {
        sleep.before_ns = steady_ns();
    }
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) const {
        sleep_->suspend_ns = steady_ns();
        loop_->post([waiter, target = target_, sleep = sleep_, may_expire = may_expire_] {
            while (!*may_expire) std::this_thread::yield();
            std::this_thread::sleep_for(30ms);
            sleep->resume_ns = steady_ns();
            target->execute(waiter);
            sleep->after_ns = steady_ns();  // the post is over
        });
    }
    void await_resume() const noexcept {}

private:
    thread_executor* loop_;
    executor_adaptor<thread_executor&>* target_;
    measured_wait* sleep_;
    const std::atomic<bool>* may_expire_;
};

task<> sleeps_then_queues(thread_executor& loop, executor_adaptor<thread_executor&>& target,
                          measured_wait& sleep, measured_wait& queue,
                          const std::atomic<bool>& may_expire) {
    COROSCOPE("sleeps then queues");
    co_await posted_timer(loop, target, sleep, may_expire);
    queue.after_ns = steady_ns();
}

task<> waits_on_foreign_loop(thread_executor& loop, measured_wait& wait) {
    COROSCOPE("waits");
    spin(200us);
    co_await COROSCOPE_AWAIT("foreign timer", timed_wait(loop, 30ms, wait));
    spin(200us);
}

foreign::manual<foreign::declared> idles(std::coroutine_handle<>& waiter) {
    COROSCOPE("idles");
    struct keep {
        explicit keep(std::coroutine_handle<>& target) noexcept : to(&target) {}
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> self) const noexcept { *to = self; }
        void await_resume() const noexcept {}
        std::coroutine_handle<>* to;
    };
    co_await keep(waiter);
}

foreign::manual<foreign::declared> transfers_to(std::coroutine_handle<> next, slot& into) {
    co_await go_to(into, go_to::where::other, next);
}

// A coroutine that starts at its call. Its frame is in memory for one frame at a time.
alignas(16) char frame_place[1024];

template <class Way>
class placed {
public:
    struct promise {
        static void* operator new(std::size_t bytes) {
            REQUIRE(bytes <= sizeof frame_place);
            return frame_place;
        }
        static void operator delete(void*) noexcept {}
        placed get_return_object() noexcept {
            return placed(std::coroutine_handle<promise>::from_promise(*this));
        }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void unhandled_exception() const noexcept { std::terminate(); }
        void return_void() const noexcept {}
    };
    using promise_type = typename foreign::promise_in<Way, promise>::type;

    placed(const placed&) = delete;
    placed& operator=(const placed&) = delete;
    ~placed() { handle.destroy(); }

    std::coroutine_handle<promise> handle;

private:
    explicit placed(std::coroutine_handle<promise> frame) noexcept : handle(frame) {}
};

template <class Way>
placed<Way> pauses_in_place(slot& into) {
    co_await suspend_into(into);
}

task<> sleeping_child(thread_executor& loop, measured_wait& wait) {
    co_await timed_wait(loop, 30ms, wait);
}
task<> awaits_sleeping_child(thread_executor& loop, measured_wait& wait, measured_wait& around) {
    COROSCOPE("awaits child");
    around.before_ns = steady_ns();
    co_await sleeping_child(loop, wait);
    around.after_ns = steady_ns();
}

}  // namespace

TEST_SUITE("waiting time") {
    TEST_CASE("a task whose wake is posted is suspended until the post and queued afterwards") {
        measured_wait sleep;
        measured_wait queue;
        recording session;
        {
            thread_executor busy;
            executor_adaptor target(busy);
            thread_executor timer;  // the timer posts to the other executor, and ends first
            // Another job is before the task in the queue: the task is ready but has no thread.
            std::atomic<bool> is_busy{false};
            auto started = sleeps_then_queues(timer, target, sleep, queue, is_busy);
            std::thread blocker([&] {
                while (sleep.suspend_ns == 0) std::this_thread::yield();
                busy.post([&] {
                    while (sleep.resume_ns == 0) std::this_thread::yield();
                    std::this_thread::sleep_for(40ms);
                    queue.resume_ns = steady_ns();  // not before here
                });
                is_busy = true;
            });
            sync_wait(started);
            blocker.join();
        }
        const recorded found = session.stop();
        const auto& task = found.task("sleeps_then_queues");
        queue.before_ns = sleep.resume_ns.load();  // the post lies between these two
        queue.suspend_ns = sleep.after_ns.load();
        CHECK(lies_between(task.time.suspended_ns, sleep.inside_ns(), sleep.outside_ns()));
        CHECK(lies_between(task.time.queued_ns, queue.inside_ns(), queue.outside_ns()));
        CHECK(task.time.waiting_ns == 0);
        check_sum(task, found.trace.duration_ns);
        const auto split = found.split(found.event("sleeps then queues"));
        CHECK(lies_between(split.suspended_ns, sleep.inside_ns(), sleep.outside_ns()));
        CHECK(lies_between(split.queued_ns, queue.inside_ns(), queue.outside_ns()));
    }

    TEST_CASE("the time until a foreign loop resumes a task is waiting time, because the wake is "
              "unknown") {
        measured_wait wait;
        recording session;
        {
            thread_executor loop;
            sync_wait(waits_on_foreign_loop(loop, wait));
        }
        const recorded found = session.stop();
        const auto& task = found.task("waits_on_foreign_loop");
        CHECK(lies_between(task.time.waiting_ns, wait.inside_ns(), wait.outside_ns()));
        CHECK(task.time.suspended_ns == 0);
        CHECK(task.time.queued_ns == 0);
        CHECK(task.time.running_ns >= nearly(400'000));
        const auto awaits = found.awaits(task);
        REQUIRE(awaits.size() == 1);
        CHECK_FALSE(awaits[0].wake_ns);
        CHECK(found.site_label(awaits[0].site) == "foreign timer");
        CHECK(&found.trace.events[awaits[0].scope] == &found.event("waits"));
    }

    TEST_CASE("a task that is resumed by symmetric transfer, by a task that it does not await, "
              "may have been ready before") {
        recording session;
        slot transferred;
        slot resumed;
        {
            auto next = pauses_in_place<foreign::declared>(resumed);
            auto first = transfers_to(next.handle, transferred);
            first.resume();
            transferred.resume();
        }
        const recorded found = session.stop();
        const auto awaits = found.awaits(found.task("pauses_in_place"));
        REQUIRE(awaits.size() == 1);
        CHECK_FALSE(awaits[0].wake_ns);
        REQUIRE(awaits[0].waker != analysis::none);
        CHECK(found.trace.tasks[awaits[0].waker].id == found.task("transfers_to").id);
        CHECK(found.task("pauses_in_place").time.queued_ns == 0);
        CHECK(found.task("pauses_in_place").time.suspended_ns == 0);
        CHECK_FALSE(found.awaits(found.task("transfers_to"))[0].wake_ns);
    }

    TEST_CASE("a transfer to a coroutine that is no task wakes no task") {
        recording session;
        slot transferred;
        slot resumed;
        slot in_place;
        {
            auto other = idles(resumed.waiter);
            other.resume();
            auto next = pauses_in_place<foreign::plain>(in_place);
            transfers_to(next.handle, transferred).resume();
            resumed.resume();
        }
        const recorded found = session.stop();
        CHECK_FALSE(found.awaits(found.task("idles"))[0].wake_ns);
    }

    TEST_CASE("a transfer to an earlier coroutine in the same memory does not wake a later task") {
        recording session;
        slot transferred;
        slot in_place;
        {
            auto next = pauses_in_place<foreign::plain>(in_place);
            transfers_to(next.handle, transferred).resume();
        }
        {
            auto task = pauses_in_place<foreign::declared>(in_place);
            in_place.resume();
        }
        const recorded found = session.stop();
        CHECK_FALSE(found.awaits(found.task("pauses_in_place"))[0].wake_ns);
    }

    TEST_CASE("the time for which a child waits is suspended time of the task that awaits it") {
        measured_wait wait;
        measured_wait around;
        recording session;
        {
            thread_executor loop;
            sync_wait(awaits_sleeping_child(loop, wait, around));
        }
        const recorded found = session.stop();
        CHECK(lies_between(found.task("sleeping_child").time.waiting_ns, wait.inside_ns(),
                           wait.outside_ns()));
        const std::int64_t around_ns = around.outside_ns();
        CHECK(lies_between(found.task("awaits_sleeping_child").time.suspended_ns, wait.inside_ns(),
                           around_ns));
        CHECK(found.task("awaits_sleeping_child").time.waiting_ns == 0);
        CHECK(lies_between(found.split(found.event("awaits child")).suspended_ns, wait.inside_ns(),
                           around_ns));
    }

    TEST_CASE("the idle time of a loop counts as running time of no task") {
        recording session;
        std::coroutine_handle<> waiter;
        std::int64_t idle_ns = 0;
        {
            auto coroutine = idles(waiter);
            coroutine.resume();
            const std::int64_t before_ns = steady_ns();
            std::this_thread::sleep_for(100ms);
            idle_ns = nearly(steady_ns() - before_ns);
            waiter.resume();
        }
        const recorded found = session.stop();
        const auto& task = found.task("idles");
        CHECK(task.time.waiting_ns >= idle_ns);
        CHECK(task.time.wall_ns() - task.time.waiting_ns == task.time.running_ns);
        CHECK(found.split(found.event("idles")).waiting_ns >= idle_ns);
        std::int64_t running_ns = 0;
        for (const auto& slice : found.trace.slices) running_ns += slice.end_ns - slice.start_ns;
        CHECK(running_ns + idle_ns <= found.trace.duration_ns);
        std::int64_t self_ns = 0;
        for (const auto& event : found.trace.events) self_ns += event.self_running_ns;
        CHECK(self_ns + idle_ns <= found.trace.duration_ns);
    }
}
