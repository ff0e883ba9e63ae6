// SPDX-License-Identifier: Apache-2.0

// co_await of our futures, from tasks, from instrumented and from plain coroutines.

#include <coroscope/async.hpp>
#include <coroscope/packaged_task.hpp>

#include <memory>
#include <thread>

#include "../runtime/support/awaitables.hpp"
#include "../runtime/support/foreign.hpp"
#include "support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

template <class T>
task<T> await_on(future<T> pending) {
    co_return co_await std::move(pending);
}

task<std::string> query_under_range(future<std::string> pending) {
    const range query("db.query");
    co_return co_await call_end_callbacks_on_future(query, std::move(pending));
}

/// A coroutine that is not instrumented.
struct plain {
    struct promise_type {
        plain get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void unhandled_exception() noexcept { std::terminate(); }
        void return_void() const noexcept {}
    };
};

plain plain_await(future<int> pending, int& result) { result = co_await pending; }

plain shared_await(shared_future<std::string> pending, const std::string*& result) {
    result = &co_await pending;
}

foreign::manual<foreign::declared> foreign_await(future<int> pending, int& result) {
    result = co_await std::move(pending);
}

/// Lets another thread destroy the producer that resumed it.
template <class Producer>
plain await_and_drop(std::unique_ptr<Producer>& producer, bool& dropped) {
    co_await producer->get_future();
    std::thread([&producer] { producer.reset(); }).join();
    dropped = true;
}

plain await_and_note_thread(future<int> pending, std::thread::id& resumed_on) {
    co_await std::move(pending);
    resumed_on = std::this_thread::get_id();
}

}  // namespace

TEST_SUITE("await of futures") {
    TEST_CASE("a task gets the value, reference, move-only value or nothing") {
        promise<int> number;
        number.set_value(4);
        CHECK(sync_wait(await_on(number.get_future())) == 4);

        promise<only_moves> moved;
        std::thread producer([&moved] { moved.set_value(only_moves(5)); });
        CHECK(*sync_wait(await_on(moved.get_future())).value == 5);
        producer.join();

        int target = 0;
        promise<int&> reference;
        reference.set_value(target);
        CHECK(&sync_wait(await_on(reference.get_future())) == &target);

        promise<void> nothing;
        nothing.set_value();
        sync_wait(await_on(nothing.get_future()));
    }

    TEST_CASE("a coroutine that a producer resumes may wait for another thread that destroys the "
              "producer") {
        bool dropped = false;
        auto set = std::make_unique<promise<int>>();
        await_and_drop(set, dropped);
        set->set_value(1);
        CHECK(dropped);
        dropped = false;
        auto called = std::make_unique<packaged_task<int()>>([] { return 1; });
        await_and_drop(called, dropped);
        (*called)();
        CHECK(dropped);
    }

    TEST_CASE("exceptions and broken promises are thrown at the await") {
        promise<int> fails;
        std::thread producer([&fails] { fails.set_exception(an_error("no answer")); });
        CHECK(message_of([&] { sync_wait(await_on(fails.get_future())); }) == "no answer");
        producer.join();
        future<int> broken;
        {
            promise<int> gone;
            broken = gone.get_future();
        }
        CHECK_THROWS_AS(sync_wait(await_on(std::move(broken))), std::future_error);
    }

    TEST_CASE(
        "the coroutine goes on inside the call that sets the value, after the end of the range") {
        recording session;
        promise<std::string> rows;
        std::thread producer;
        {
            auto waiting = start(query_under_range(rows.get_future()));
            producer = std::thread([&rows] { rows.set_value("rows"); });
            CHECK(sync_wait(waiting) == "rows");
        }
        producer.join();
        const recorded found = session.stop();
        const auto& event = found.event("db.query");
        const std::uint32_t task = found.task_index("query_under_range");
        CHECK(event.task == task);
        CHECK(found.trace.tasks[task].state == analysis::task_state::finished);
        check_sum(found.trace.tasks[task], found.trace.duration_ns);
        const auto awaits = found.awaits(found.trace.tasks[task]);
        REQUIRE(awaits.size() == 1);
        REQUIRE(awaits[0].resume_ns);
        CHECK(event.end_ns <= *awaits[0].resume_ns);
        CHECK(event.start_ns <= awaits[0].suspend_ns);
        // A transfer: the wake is the resumption.
        CHECK(awaits[0].wake_ns == awaits[0].resume_ns);
        CHECK(found.split(event).suspended_ns > 0);
        CHECK(found.split(event).waiting_ns == 0);
    }

    TEST_CASE("a thread without a task that sets two values woke both coroutines by itself") {
        recording session;
        promise<int> first, second;
        auto waits_for_first = start(await_on(first.get_future()));
        auto waits_for_second = start(await_on(second.get_future()));
        std::thread([&] {
            first.set_value(1);
            second.set_value(2);
        }).join();
        CHECK(sync_wait(waits_for_first) + sync_wait(waits_for_second) == 3);
        const recorded found = session.stop();
        const auto tasks = found.tasks("await_on");
        REQUIRE(tasks.size() == 2);
        for (const std::uint32_t task : tasks) {
            const auto awaits = found.awaits(found.trace.tasks[task]);
            REQUIRE(awaits.size() == 1);
            CHECK(awaits[0].waker == analysis::none);
            CHECK(awaits[0].waker_thread != analysis::none);
            CHECK(awaits[0].wake_ns == awaits[0].resume_ns);
        }
    }

    TEST_CASE("the coroutine goes on by a transfer, too, on a thread that only the coroutine's "
              "session records") {
        recording session{profile_options{}};
        promise<int> answer;
        auto waiting = start(await_on(answer.get_future()));
        std::thread producer([&answer] { answer.set_value(2); });
        CHECK(sync_wait(waiting) == 2);
        producer.join();
        const recorded found = session.stop();
        const auto awaits = found.awaits(found.task("await_on"));
        REQUIRE(awaits.size() == 1);
        CHECK(awaits[0].resume_ns.has_value());
        CHECK(awaits[0].wake_ns == awaits[0].resume_ns);
    }

    TEST_CASE("plain and instrumented coroutines may await, too, and a shared future returns its "
              "reference") {
        promise<int> number;
        int result = 0;
        plain_await(number.get_future(), result);
        number.set_value(6);
        CHECK(result == 6);

        promise<std::string> text;
        shared_future<std::string> all = text.get_future().share();
        const std::string* first = nullptr;
        const std::string* second = nullptr;
        shared_await(all, first);
        shared_await(all, second);
        text.set_value("both");
        CHECK(first == &all.get());
        CHECK(second == first);

        recording session;
        promise<int> answer;
        auto coroutine = foreign_await(answer.get_future(), result);
        coroutine.resume();
        answer.set_value(7);
        CHECK(result == 7);
        CHECK(session.stop().task("foreign_await").awaits.size() == 1);
    }

    TEST_CASE("a coroutine that is destroyed while it awaits is abandoned") {
        recording session;
        promise<int> answer;
        {
            int result = 0;
            auto coroutine = foreign_await(answer.get_future(), result);
            coroutine.resume();
        }
        answer.set_value(1);
        CHECK(session.stop().task("foreign_await").state == analysis::task_state::abandoned);
    }

    TEST_CASE("futures of packaged_task and async are awaited in the same way") {
        packaged_task<int()> work([] { return 3; });
        future<int> pending = work.get_future();
        std::thread worker(std::move(work));
        CHECK(sync_wait(await_on(std::move(pending))) == 3);
        worker.join();
        CHECK(sync_wait(await_on(coroscope::async(std::launch::async, [] { return 4; }))) == 4);
        CHECK(sync_wait(await_on(coroscope::async(std::launch::deferred, [] { return 5; }))) == 5);
    }

    TEST_CASE(
        "a coroutine that awaits a value for a thread's exit goes on there, and is recorded") {
        recording session;
        promise<int> answer;
        auto waiting = start(await_on(answer.get_future()));
        std::thread exiting([&answer] { answer.set_value_at_thread_exit(8); });
        CHECK(sync_wait(waiting) == 8);
        exiting.join();
        CHECK(session.stop().task("await_on").state == analysis::task_state::finished);
    }

    TEST_CASE("completing and awaiting at the same time neither loses nor doubles a resumption") {
        constexpr int rounds = 2000;
        for (int round = 0; round < rounds; ++round) {
            promise<int> answer;
            auto work = await_on(answer.get_future());
            std::thread producer([&answer] { answer.set_value(1); });
            REQUIRE(sync_wait(std::move(work)) == 1);
            producer.join();
        }
    }

    TEST_CASE("the resuming thread is the one that sets the value") {
        promise<int> answer;
        std::thread::id resumed_on;
        await_and_note_thread(answer.get_future(), resumed_on);
        std::thread producer([&answer] { answer.set_value(1); });
        const std::thread::id expected = producer.get_id();
        producer.join();
        CHECK(resumed_on == expected);
    }
}
