// SPDX-License-Identifier: Apache-2.0

// Ranges that end with the future of a coroscope::packaged_task, and the task as a replacement of
// std::packaged_task.

#include <coroscope/packaged_task.hpp>

#include "support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

int doubled(int value) { return 2 * value; }

}  // namespace

TEST_SUITE("packaged_task") {
    TEST_CASE("packaged_task calls members like the standard library's, and may drop a function's "
              "value") {
        struct counter {
            int next(int step) { return count += step; }
            int count = 0;
        } counted;
        packaged_task<int(counter&, int)> member(&counter::next);
        packaged_task<int(counter*)> value(&counter::count);
        packaged_task<void(int)> unwanted(doubled);
        member(counted, 3);
        value(&counted);
        unwanted(1);
        CHECK(member.get_future().get() == 3);
        CHECK(value.get_future().get() == 3);
        unwanted.get_future().get();
    }

    TEST_CASE("the range ends when the function has returned, before the future is ready") {
        recording session;
        journal happened;
        packaged_task<int(int)> work([&happened](int value) {
            happened.note("called");
            return value + 1;
        });
        const range ends("packaged");
        ends.on_end(happened.noting("ended"));
        future<int> pending = call_end_callbacks_on_future(ends, work.get_future());
        std::thread([&work] { work(4); }).join();
        CHECK(pending.get() == 5);
        CHECK(happened.words() == words{"called", "ended"});
        CHECK(session.stop().count("packaged") == 1);
    }

    TEST_CASE("an exception of the function comes through, and ends the range") {
        packaged_task<void()> work([] { throw std::runtime_error("went wrong"); });
        const range ends("throws");
        future<void> pending = call_end_callbacks_on_future(ends, work.get_future());
        work();
        CHECK(ends.ended());
        CHECK(message_of([&] { pending.get(); }) == "went wrong");
    }

    TEST_CASE("a task that is never called ends the range and breaks the future") {
        const range ends("never called");
        future<int> pending;
        {
            packaged_task<int()> work([] { return 1; });
            pending = call_end_callbacks_on_future(ends, work.get_future());
        }
        CHECK(ends.ended());
        CHECK_THROWS_AS(pending.get(), std::future_error);
    }

    TEST_CASE("callables, arguments and results may be move-only or references") {
        packaged_task<only_moves(only_moves)> moved(
            [held = std::make_unique<int>(1)](only_moves given) {
                return only_moves(*given.value + *held);
            });
        future<only_moves> taken = call_end_callbacks_on_future(range("moved"), moved.get_future());
        moved(only_moves(2));
        CHECK(*taken.get().value == 3);

        int target = 0;
        packaged_task<int&(int&)> referred([](int& given) -> int& { return given; });
        future<int&> reference = referred.get_future();
        referred(target);
        CHECK(&reference.get() == &target);
    }

    TEST_CASE("the signature is deduced from a function or a callable") {
        packaged_task from_function(doubled);
        packaged_task from_lambda([](int value) mutable noexcept { return value + 1; });
        future<int> first = from_function.get_future();
        future<int> second = from_lambda.get_future();
        from_function(2);
        from_lambda(2);
        CHECK(first.get() == 4);
        CHECK(second.get() == 3);
    }

    TEST_CASE("after a reset the task can be called again, and the earlier future is broken") {
        packaged_task<int()> work([count = 0]() mutable { return ++count; });
        const range abandoned("reset before the call");
        future<int> broken = call_end_callbacks_on_future(abandoned, work.get_future());
        work.reset();
        CHECK(abandoned.ended());
        CHECK_THROWS_AS(broken.get(), std::future_error);
        const range ends("after the reset");
        future<int> pending = call_end_callbacks_on_future(ends, work.get_future());
        work();
        CHECK(pending.get() == 1);
        CHECK_THROWS_AS(work(), std::future_error);
        packaged_task<int()> moved(std::move(work));
        // NOLINTNEXTLINE(bugprone-use-after-move): the moved-from state is specified
        CHECK_FALSE(work.valid());
        CHECK(moved.valid());
    }

    TEST_CASE("make_ready_at_thread_exit() ends the range when the function has returned, and the "
              "future is ready at the exit") {
        packaged_task<int()> work([] { return 6; });
        const range ends("at exit");
        future<int> pending = call_end_callbacks_on_future(ends, work.get_future());
        bool ended = false;
        bool ready = true;
        std::thread([&] {
            work.make_ready_at_thread_exit();
            ended = ends.ended();
            ready = pending.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
        }).join();
        CHECK(ended);
        CHECK_FALSE(ready);
        CHECK(pending.get() == 6);
    }
}
