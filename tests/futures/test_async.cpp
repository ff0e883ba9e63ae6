// SPDX-License-Identifier: Apache-2.0

// Ranges that end with the future of coroscope::async, and async as a replacement of std::async.

#include <coroscope/async.hpp>

#include <semaphore>

#include <pthread.h>

#include "support.hpp"

using namespace coroscope;
using namespace coroscope::test;

TEST_SUITE("async") {
    TEST_CASE("async calls a member, and passes a function and its arguments as values") {
        struct counter {
            int next(int step) { return count += step; }
            int count = 0;
        } counted;
        CHECK(coroscope::async(std::launch::deferred, &counter::next, &counted, 3).get() == 3);
        CHECK(coroscope::async(std::launch::async, &counter::count, &counted).get() == 3);
        CHECK(coroscope::async(
                  std::launch::deferred, [](std::unique_ptr<int>&& given) { return *given; },
                  std::make_unique<int>(4))
                  .get() == 4);
    }

    TEST_CASE("a function on its own thread ends the range when it has returned") {
        recording session;
        std::binary_semaphore go(0);
        const range ends("on a thread");
        future<int> pending =
            call_end_callbacks_on_future(ends, coroscope::async(std::launch::async, [&go] {
                                             go.acquire();
                                             return 3;
                                         }));
        CHECK_FALSE(ends.ended());
        go.release();
        CHECK(pending.get() == 3);
        CHECK(ends.ended());
        const recorded found = session.stop();
        const auto& event = found.event("on a thread");
        CHECK(found.end_thread(event) != event.thread);
    }

    TEST_CASE(
        "arguments and results may be move-only, void or references, and exceptions come through") {
        future<only_moves> moved = coroscope::async(
            [](only_moves given) { return only_moves(*given.value * 2); }, only_moves(4));
        CHECK(*moved.get().value == 8);
        int target = 0;
        future<int&> reference = coroscope::async([&target]() -> int& { return target; });
        CHECK(&reference.get() == &target);
        coroscope::async(
            std::launch::deferred, [](int& given) { given = 9; }, std::ref(target))
            .get();
        CHECK(target == 9);
        future<void> failed = coroscope::async([] { throw std::runtime_error("in async"); });
        CHECK(message_of([&] { failed.get(); }) == "in async");
    }

    TEST_CASE(
        "a deferred function runs on the thread that waits for it, and ends the range there") {
        recording session;
        const range ends("deferred");
        std::thread::id ran_on;
        future<int> pending =
            call_end_callbacks_on_future(ends, coroscope::async(std::launch::deferred, [&ran_on] {
                                             ran_on = std::this_thread::get_id();
                                             return 2;
                                         }));
        CHECK_FALSE(ends.ended());
        CHECK(pending.wait_for(std::chrono::seconds(0)) == std::future_status::deferred);
        CHECK(pending.get() == 2);
        CHECK(ran_on == std::this_thread::get_id());
        CHECK(ends.ended());
    }

    TEST_CASE("a function that has already returned or thrown ends the range at its attachment") {
        future<only_moves> done = coroscope::async([] { return only_moves(6); });
        done.wait();
        const range ends("complete already");
        CHECK(*call_end_callbacks_on_future(ends, std::move(done)).get().value == 6);
        CHECK(ends.ended());
        const range fails("throws");
        auto failed = call_end_callbacks_on_future(
            fails, coroscope::async([]() -> int { throw std::runtime_error("in async"); }));
        CHECK(message_of([&] { failed.get(); }) == "in async");
        CHECK(fails.ended());
    }

    TEST_CASE("a function that ends its thread breaks the promise and ends the range") {
        const range ends("ends its thread");
        auto pending = call_end_callbacks_on_future(
            ends, coroscope::async(std::launch::async, []() -> int { ::pthread_exit(nullptr); }));
        CHECK_THROWS_WITH_AS(pending.get(),
                             std::future_error(std::future_errc::broken_promise).what(),
                             std::future_error);
        CHECK(ends.ended());
    }

    TEST_CASE("a deferred function without a waiter is abandoned with its future") {
        const range ends("never waited for");
        bool ran = false;
        {
            const auto pending = call_end_callbacks_on_future(
                ends, coroscope::async(std::launch::deferred, [&ran] { ran = true; }));
            CHECK_FALSE(ends.ended());
        }
        CHECK(ends.ended());
        CHECK_FALSE(ran);
    }

    TEST_CASE("the function runs under the context of its caller") {
        context mine;
        mine.task = 815;
        for (const auto policy : {std::launch::async, std::launch::deferred}) {
            future<std::uint64_t> seen;
            {
                const context_guard guard(mine);
                seen = coroscope::async(policy, [] { return current_context().task; });
            }
            CHECK(seen.get() == 815);
        }
    }

    TEST_CASE("the last future waits for its thread; a std::future made from it does not") {
        std::atomic<bool> done{false};
        std::binary_semaphore go(0);
        const auto slow = [&done, &go] {
            go.acquire();
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            done = true;
        };
        {
            const future<void> last = coroscope::async(std::launch::async, slow);
            go.release();
        }
        CHECK(done.load());
        done = false;
        {
            shared_future<void> first = coroscope::async(std::launch::async, slow).share();
            const shared_future<void> second = first;
            first = {};
            CHECK_FALSE(done.load());
            go.release();
        }
        CHECK(done.load());
        std::future<void> plain = coroscope::async(std::launch::async, [&go] { go.acquire(); });
        go.release();
        plain.get();
    }

    TEST_CASE("copies that became plain shared futures leave their thread running") {
        std::binary_semaphore go(0);
        std::shared_future<void> plain;
        std::shared_future<void> other;
        {
            shared_future<void> first =
                coroscope::async(std::launch::async, [&go] { go.acquire(); }).share();
            shared_future<void> second = first;
            plain = std::move(first);
            other = std::move(second);
        }
        go.release();
        plain.get();
        other.get();
    }

    TEST_CASE("a copy that became a plain shared future leaves the wait to the others") {
        std::binary_semaphore go(0);
        std::atomic<bool> done{false};
        std::shared_future<void> plain;
        {
            const shared_future<void> waits = [&] {
                shared_future<void> made =
                    coroscope::async(std::launch::async, [&] {
                        go.acquire();
                        std::this_thread::sleep_for(std::chrono::milliseconds(20));
                        done = true;
                    }).share();
                shared_future<void> copy = made;
                plain = std::move(made);
                return copy;
            }();
            go.release();
        }
        CHECK(done.load());
    }
}
