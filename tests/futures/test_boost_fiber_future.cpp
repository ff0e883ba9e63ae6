// SPDX-License-Identifier: Apache-2.0

// Boost.Fiber's futures.

#include <coroscope/integration/boost_fiber_future.hpp>

#include <boost/fiber/operations.hpp>

#include "support.hpp"

using namespace coroscope;
using namespace coroscope::test;
namespace fibers = boost::fibers;

namespace {

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

plain run(task<int> work, int& result) { result = co_await std::move(work); }

task<int> query_under_range(fibers::future<int> pending) {
    const range query("db.query");
    co_return co_await call_end_callbacks_on_future(query, std::move(pending));
}

void run_fibers_while(const int& result) {
    for (int turn = 0; turn < 1000 && result == 0; ++turn) boost::this_fiber::yield();
}

}  // namespace

TEST_SUITE("boost::fibers::future") {
    TEST_CASE("the range ends before the returned future is ready, and waiting for that future is "
              "enough") {
        fibers::promise<int> answer;
        const range ends("fiber");
        fibers::future<int> pending = call_end_callbacks_on_future(ends, answer.get_future());
        bool was_ready = true;
        ends.on_end([&] {
            was_ready = pending.wait_for(std::chrono::seconds(0)) == fibers::future_status::ready;
        });
        fibers::fiber([&answer] { answer.set_value(4); }).detach();
        pending.wait();
        CHECK(ends.ended());
        CHECK_FALSE(was_ready);
        CHECK(pending.get() == 4);
    }

    TEST_CASE(
        "a future that another thread completes, that fails or that is broken ends the range") {
        fibers::promise<int> elsewhere;
        const range ends("other thread");
        auto pending = call_end_callbacks_on_future(ends, elsewhere.get_future());
        std::thread producer([&elsewhere] { elsewhere.set_value(5); });
        CHECK(pending.get() == 5);
        CHECK(ends.ended());
        producer.join();

        fibers::promise<int> fails;
        const range failing("fails");
        auto failed = call_end_callbacks_on_future(failing, fails.get_future());
        fails.set_exception(an_error("no rows"));
        CHECK(message_of([&] { failed.get(); }) == "no rows");
        CHECK(failing.ended());

        const range abandoned("abandoned");
        fibers::future<int> broken;
        {
            fibers::promise<int> gone;
            broken = call_end_callbacks_on_future(abandoned, gone.get_future());
        }
        CHECK_THROWS_AS(broken.get(), fibers::broken_promise);
        CHECK(abandoned.ended());
    }

    TEST_CASE("a future may be complete already, move-only, of a reference or shared") {
        fibers::promise<only_moves> complete;
        complete.set_value(only_moves(2));
        const range ends("complete");
        auto ready = call_end_callbacks_on_future(ends, complete.get_future());
        CHECK(ends.ended());
        CHECK(*ready.get().value == 2);

        int target = 0;
        fibers::promise<int&> reference;
        auto referred = call_end_callbacks_on_future(range("reference"), reference.get_future());
        reference.set_value(target);
        CHECK(&referred.get() == &target);

        fibers::promise<int> answer;
        fibers::shared_future<int> all = answer.get_future().share();
        const range shared("shared");
        auto attached = call_end_callbacks_on_future(shared, all);
        answer.set_value(3);
        CHECK(attached.get() == 3);
        CHECK(shared.ended());
    }

    TEST_CASE("a task awaits a fiber future in a fiber of its thread, with its range in the task") {
        recording session;
        fibers::promise<int> answer;
        int result = 0;
        run(query_under_range(answer.get_future()), result);
        CHECK(result == 0);
        answer.set_value(7);
        run_fibers_while(result);
        CHECK(result == 7);
        const recorded found = session.stop();
        CHECK(found.event("db.query").task == found.task_index("query_under_range"));
    }
}
