// SPDX-License-Identifier: Apache-2.0

// Threads that wait for the results of our futures: the waits are recorded, with the producers.

#include <coroscope/async.hpp>
#include <coroscope/packaged_task.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "../support/awaited_call.hpp"
#include "support.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

/// A thread that executes `wait()`.
class waiting_thread {
public:
    template <class Wait>
    explicit waiting_thread(Wait wait)
        : thread_([this, wait] {
              COROSCOPE("waits");
              id_ = ::syscall(SYS_gettid);
              id_.notify_one();
              wait();
          }) {}

    /// Returns when the thread waits.
    void await_wait() const {
        id_.wait(0);
        await_call([this](long thread, const waiting_call& call) {
            return thread == id_ && call.number == SYS_futex;
        });
    }
    void join() { thread_.join(); }

private:
    std::atomic<long> id_{0};
    std::thread thread_;
};

/// Begins a wait by `wait()` on another thread, and then calls `produce()` on a third one, in a
/// scope.
template <class Wait, class Produce>
recorded record(Wait wait, Produce produce) {
    recording session;
    waiting_thread waiting(wait);
    std::thread producing([&] {
        waiting.await_wait();
        COROSCOPE("produces");
        produce();
    });
    waiting.join();
    producing.join();
    return session.stop();
}

/// The wait began in the scope "waits" and ended with the result of the scope "produces".
void check_wait(const recorded& told) {
    REQUIRE(told.trace.resource_waits.size() == 1);
    const analysis::resource_wait& wait = told.trace.resource_waits[0];
    CHECK(told.trace.sites[wait.site].category == "future");
    CHECK(wait.thread == told.event("waits").thread);
    CHECK(wait.start_ns >= told.event("waits").start_ns);
    CHECK(wait.end_ns <= told.event("waits").end_ns);
    CHECK_FALSE(wait.gave_up);
    CHECK_FALSE(wait.holder_known);
    CHECK(wait.releaser_thread == told.event("produces").thread);
    REQUIRE(wait.released_ns.has_value());
    CHECK(*wait.released_ns >= told.event("produces").start_ns);
    CHECK(*wait.released_ns <= told.event("produces").end_ns);
}

}  // namespace

TEST_SUITE("threads that wait for futures") {
    TEST_CASE("a thread that waits for a promise is recorded with the thread that sets the value") {
        promise<int> made;
        future<int> pending = made.get_future();
        int value = 0;
        check_wait(record([&] { value = pending.get(); }, [&] { made.set_value(7); }));
        CHECK(value == 7);
        CHECK_FALSE(pending.valid());
    }

    TEST_CASE("the destruction of a promise that was fulfilled is not its release") {
        auto made = std::make_unique<promise<int>>();
        const shared_future<int> pending = made->get_future().share();
        recording session;
        waiting_thread waiting([&] { pending.wait(); });
        waiting.await_wait();
        {
            COROSCOPE("produces");
            made->set_value(1);
        }
        made.reset();
        waiting.join();
        const recorded told = session.stop();
        REQUIRE(told.trace.resource_waits.size() == 1);
        if (told.trace.resource_waits[0].released_ns)
            CHECK(*told.trace.resource_waits[0].released_ns <= told.event("produces").end_ns);
    }

    TEST_CASE("each way to wait, and each producer, is recorded") {
        {
            promise<int> made;
            future<int> pending = made.get_future();
            check_wait(
                record([&] { pending.wait(); }, [&] { made.set_exception(an_error("no value")); }));
            CHECK(message_of([&] { pending.get(); }) == "no value");
        }
        {
            packaged_task<int(int)> work([](int of) { return of + 1; });
            future<int> pending = work.get_future();
            check_wait(record([&] { CHECK(pending.wait_for(1h) == std::future_status::ready); },
                              [&] { work(1); }));
            CHECK(pending.get() == 2);
        }
        {
            auto made = std::make_unique<promise<void>>();
            const shared_future<void> pending = made->get_future().share();
            const auto later = std::chrono::steady_clock::now() + 1h;
            check_wait(
                record([&] { CHECK(pending.wait_until(later) == std::future_status::ready); },
                       [&] { made.reset(); }));
            CHECK_THROWS_AS(pending.get(), std::future_error);
        }
    }

    TEST_CASE("the producer is the task that set the value") {
        promise<int> made;
        const shared_future<int> pending = made.get_future().share();
        const auto produce = [](promise<int>& to) -> task<void> {
            to.set_value(3);
            co_return;
        };
        const recorded told =
            record([&] { CHECK(pending.get() == 3); }, [&] { sync_wait(produce(made)); });
        check_wait(told);
        const std::uint32_t releaser = told.trace.resource_waits[0].releaser_task;
        REQUIRE(told.trace.tasks.size() == 1);
        CHECK(releaser == 0);
    }

    TEST_CASE("a wait that timed out gave up, and a poll is no wait") {
        recording session;
        promise<int> made;
        const future<int> pending = made.get_future();
        CHECK(pending.wait_for(1ms) == std::future_status::timeout);
        CHECK(pending.wait_for(0s) == std::future_status::timeout);
        const recorded told = session.stop();
        REQUIRE(told.trace.resource_waits.size() == 1);
        CHECK(told.trace.resource_waits[0].gave_up);
    }

    TEST_CASE(
        "results that are ready, deferred or awaited by a coroutine are no waits of threads") {
        recording session;
        promise<int> made;
        future<int> pending = made.get_future();
        made.set_value(1);
        CHECK(pending.get() == 1);
        CHECK(coroscope::async(std::launch::deferred, [] { return 2; }).get() == 2);
        promise<int> awaited;
        auto waiting = start([](future<int> of) -> task<int> {
            co_return co_await std::move(of);
        }(awaited.get_future()));
        awaited.set_value(3);
        CHECK(sync_wait(std::move(waiting)) == 3);
        CHECK(session.stop().trace.resource_waits.empty());
    }

    TEST_CASE(
        "a future without a state throws in each waiting function, as the standard library's") {
        future<int> none;
        shared_future<int> nothing;
        CHECK_THROWS_AS(none.get(), std::future_error);
        CHECK_THROWS_AS(none.wait(), std::future_error);
        CHECK_THROWS_AS(none.wait_for(1ms), std::future_error);
        CHECK_THROWS_AS(nothing.get(), std::future_error);
        CHECK_THROWS_AS(nothing.wait_until(std::chrono::steady_clock::now()), std::future_error);
    }
}
