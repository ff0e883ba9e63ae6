// SPDX-License-Identifier: Apache-2.0

// Boost.Thread's futures.

#include <coroscope/integration/boost_future.hpp>

#include "support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

template <class T>
task<T> await_on(boost::future<T> pending) {
    co_return co_await std::move(pending);
}

task<int> query_under_range(boost::future<int> pending) {
    const range query("db.query");
    co_return co_await call_end_callbacks_on_future(query, std::move(pending));
}

}  // namespace

TEST_SUITE("boost::future") {
    TEST_CASE("the range ends on the completing thread, before the returned future is ready") {
        recording session;
        boost::promise<int> answer;
        const range query("query");
        boost::future<int> pending = call_end_callbacks_on_future(query, answer.get_future());
        bool was_ready = true;
        query.on_end([&] { was_ready = pending.is_ready(); });
        std::thread([&answer] { answer.set_value(4); }).join();
        CHECK_FALSE(was_ready);
        CHECK(pending.get() == 4);
        const recorded found = session.stop();
        CHECK(found.end_thread(found.event("query")) != found.event("query").thread);
    }

    TEST_CASE("exceptions and broken promises end the range and come through") {
        boost::promise<int> fails;
        const range failing("fails");
        auto failed = call_end_callbacks_on_future(failing, fails.get_future());
        fails.set_exception(std::runtime_error("no rows"));
        CHECK(failing.ended());
        CHECK_THROWS(failed.get());

        const range abandoned("abandoned");
        boost::future<int> broken;
        {
            boost::promise<int> gone;
            broken = call_end_callbacks_on_future(abandoned, gone.get_future());
        }
        CHECK(abandoned.ended());
        CHECK_THROWS_AS(broken.get(), boost::broken_promise);
    }

    TEST_CASE("a future may be complete already, void, of a reference or move-only") {
        const range complete("complete");
        CHECK(call_end_callbacks_on_future(complete, boost::make_ready_future(2)).get() == 2);
        CHECK(complete.ended());

        boost::promise<void> nothing;
        boost::future<void> done =
            call_end_callbacks_on_future(range("void"), nothing.get_future());
        nothing.set_value();
        done.get();

        int target = 0;
        boost::promise<int&> reference;
        boost::future<int&> referred =
            call_end_callbacks_on_future(range("reference"), reference.get_future());
        reference.set_value(target);
        CHECK(&referred.get() == &target);

        boost::promise<only_moves> moved;
        boost::future<only_moves> taken =
            call_end_callbacks_on_future(range("moved"), moved.get_future());
        moved.set_value(only_moves(3));
        CHECK(*taken.get().value == 3);
    }

    TEST_CASE("a shared future ends the range, and all copies have the value") {
        boost::promise<std::string> answer;
        boost::shared_future<std::string> all = answer.get_future().share();
        const range ends("shared");
        boost::shared_future<std::string> attached = call_end_callbacks_on_future(ends, all);
        answer.set_value("both");
        CHECK(ends.ended());
        CHECK(attached.get() == "both");
        CHECK(all.get() == "both");
    }

    TEST_CASE("a task awaits a Boost future, with its range in the task, and goes on after the "
              "value is set") {
        recording session;
        boost::promise<int> answer;
        auto waiting = start(query_under_range(answer.get_future()));
        std::thread producer([&answer] { answer.set_value(9); });
        CHECK(sync_wait(waiting) == 9);
        producer.join();
        const recorded found = session.stop();
        CHECK(found.event("db.query").task == found.task_index("query_under_range"));
        CHECK(found.task("query_under_range").state == analysis::task_state::finished);
    }

    TEST_CASE("an await returns ready and shared values, and throws exceptions") {
        boost::promise<int> fails;
        std::thread producer([&fails] { fails.set_exception(std::runtime_error("late")); });
        CHECK_THROWS(sync_wait(await_on(fails.get_future())));
        producer.join();
        CHECK(*sync_wait(await_on(boost::make_ready_future(only_moves(1)))).value == 1);
        auto shared = [](boost::shared_future<int> all) -> task<int> { co_return co_await all; };
        CHECK(sync_wait(shared(boost::make_ready_future(5).share())) == 5);
    }

    TEST_CASE(
        "a deferred function runs on the thread that waits for it, and ends its range there") {
        const range ends("deferred"), shared("shared"), refers("refers"), fails("fails");
        std::thread::id ran_on;
        auto pending =
            call_end_callbacks_on_future(ends, boost::async(boost::launch::deferred, [&ran_on] {
                                             ran_on = std::this_thread::get_id();
                                             return only_moves(6);
                                         }));
        CHECK(ran_on == std::thread::id());
        CHECK_FALSE(ends.ended());
        CHECK(*pending.get().value == 6);
        CHECK(ran_on == std::this_thread::get_id());
        CHECK(ends.ended());

        boost::shared_future<int> all = call_end_callbacks_on_future(
            shared, boost::async(boost::launch::deferred, [] { return 7; }).share());
        CHECK(all.get() == 7);
        CHECK(shared.ended());

        int target = 0;
        boost::future<int&> referred = call_end_callbacks_on_future(
            refers, boost::async(boost::launch::deferred, [&target]() -> int& { return target; }));
        CHECK(&referred.get() == &target);
        CHECK(refers.ended());

        boost::future<void> thrown = call_end_callbacks_on_future(
            fails, boost::async(boost::launch::deferred, [] { throw std::runtime_error("late"); }));
        CHECK_THROWS_WITH_AS(thrown.get(), "late", std::runtime_error);
        CHECK(fails.ended());
    }

    TEST_CASE("a task that awaits a deferred function calls it") {
        recording session;
        CHECK(sync_wait(await_on(boost::async(boost::launch::deferred, [] { return 8; }))) == 8);
        auto shared = [](boost::shared_future<int> all) -> task<int> { co_return co_await all; };
        CHECK(sync_wait(shared(boost::async(boost::launch::deferred, [] { return 9; }).share())) ==
              9);
        CHECK(sync_wait(query_under_range(
                  boost::async(boost::launch::deferred, [] { return 10; }))) == 10);
        const recorded found = session.stop();
        CHECK(found.task("query_under_range").state == analysis::task_state::finished);
        CHECK(found.count("db.query") == 1);
    }

    TEST_CASE("an invalid future ends the range and is returned") {
        const range ends("invalid"), shared("shared");
        CHECK_FALSE(call_end_callbacks_on_future(ends, boost::future<int>()).valid());
        CHECK(ends.ended());
        CHECK_FALSE(call_end_callbacks_on_future(shared, boost::shared_future<int>()).valid());
        CHECK(shared.ended());
    }
}
