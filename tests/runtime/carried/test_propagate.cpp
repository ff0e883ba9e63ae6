// SPDX-License-Identifier: Apache-2.0

// propagate(): the context follows a callable to wherever it runs.

#include <coroscope/propagate.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "../support/awaitables.hpp"
#include "../support/executors.hpp"
#include "../support/foreign.hpp"
#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

foreign::manual<foreign::declared> spreads_work(thread_executor& pool) {
    COROSCOPE("spreads work");
    pool.post(propagate([] { COROSCOPE("in pool"); }));
    std::thread(propagate([](int value) {
                    COROSCOPE("in thread");
                    CHECK(value == 3);
                }),
                3)
        .join();
    pool.post([] { COROSCOPE("unrelated"); });
    pool.join();
    co_return;
}

foreign::manual<foreign::declared> sets_callback(std::function<int(int)>& callback) {
    callback = propagate([](int value) {
        COROSCOPE("in callback");
        return value + 1;
    });
    co_return;
}

foreign::manual<foreign::declared> resumed_elsewhere(slot& into) {
    COROSCOPE("resumed elsewhere");
    co_await suspend_into(into);
    COROSCOPE("second half");
}
foreign::manual<foreign::declared> resumes_another(slot& into) {
    std::thread(propagate([&into] {
        COROSCOPE("around");
        into.resume();
        COROSCOPE("behind");
    })).join();
    co_return;
}

}  // namespace

TEST_SUITE("propagate") {
    TEST_CASE("scopes on other threads belong to the task that the callable comes from") {
        recording session;
        {
            thread_executor pool;
            auto coroutine = spreads_work(pool);
            coroutine.resume();
            CHECK(coroutine.done());
        }
        const recorded found = session.stop();
        const std::uint32_t task = found.task_index("spreads_work");
        CHECK(found.event("in pool").task == task);
        CHECK(found.event("in thread").task == task);
        CHECK(found.event("unrelated").task == analysis::none);
        CHECK(found.event("in thread").thread != found.event("spreads work").thread);
    }

    TEST_CASE(
        "a callback runs in the context in which it was set, and restores the caller's context") {
        recording session;
        std::function<int(int)> callback;
        sets_callback(callback).resume();
        CHECK(callback(1) == 2);
        CHECK(callback(2) == 3);
        CHECK(current_context().task == 0);
        const recorded found = session.stop();
        const auto events = found.events("in callback");
        REQUIRE(events.size() == 2);
        for (const auto* event : events) CHECK(event->task == found.task_index("sets_callback"));
    }

    TEST_CASE("arguments, result and exceptions pass through, moved or by reference") {
        auto moves =
            propagate([owned = std::make_unique<int>(2)](std::unique_ptr<int> other) mutable {
                *owned += *other;
                return std::move(owned);
            });
        CHECK(*moves(std::make_unique<int>(3)) == 5);
        int value = 1;
        auto refers = propagate([](int& target) -> int& { return target; });
        CHECK(&refers(value) == &value);
        const auto constant = propagate([] { return std::string("constant"); });
        CHECK(constant() == "constant");
        auto throws = propagate([] { throw std::runtime_error("through"); });
        CHECK_THROWS_WITH_AS(throws(), "through", std::runtime_error);
        CHECK(current_context() == context{});
    }

    TEST_CASE(
        "a session of one thread records propagated work, and no other work of other threads") {
        recording session({.all_threads = false});
        std::thread(propagate([] { COROSCOPE("propagated"); })).join();
        std::thread([] { COROSCOPE("unrelated"); }).join();
        const recorded found = session.stop();
        CHECK(found.count("propagated") == 1);
        CHECK(found.count("unrelated") == 0);
        CHECK(found.trace.threads.size() >= 1);
    }

    TEST_CASE("work that is propagated from a session that is over is recorded nowhere") {
        std::function<void()> late;
        {
            recording session({.all_threads = false});
            late = propagate([] { COROSCOPE("late"); });
            static_cast<void>(session.stop());
        }
        recording next({.all_threads = false});
        std::thread(late).join();
        CHECK(next.stop().count("late") == 0);
    }

    TEST_CASE("a callable keeps its call operators: for lvalues, constants and rvalues") {
        struct forms {
            int operator()(int& counted) & { return ++counted; }
            int operator()(int& counted) const& { return counted += 10; }
            int operator()(int& counted) && { return counted += 100; }
        };
        int counted = 0;
        auto lvalue = propagate(forms());
        CHECK(lvalue(counted) == 1);
        CHECK(std::as_const(lvalue)(counted) == 11);
        CHECK(std::move(lvalue)(counted) == 111);
        static_assert(!std::is_copy_constructible_v<decltype(propagate(
                          [owned = std::unique_ptr<int>()] { return owned.get(); }))>);
    }

    TEST_CASE("a callable accepts the arguments of its function and no others") {
        const auto numbers = propagate([](int value) { return value; });
        static_assert(std::is_invocable_r_v<int, decltype(numbers)&, int>);
        static_assert(!std::is_invocable_v<decltype(numbers)&>);
        static_assert(!std::is_invocable_v<decltype(numbers)&, std::string>);
        auto counts = propagate([count = 0]() mutable { return ++count; });
        static_assert(std::is_invocable_v<decltype(counts)&>);
        static_assert(!std::is_invocable_v<const decltype(counts)&>);
        struct overloads {
            static int of(const std::function<int(int)>& given) { return given(1); }
            static int of(const std::function<int(std::string)>& given) { return given("text"); }
        };
        CHECK(overloads::of(propagate([](int) { return 1; })) == 1);
        CHECK(overloads::of(propagate([](const std::string&) { return 2; })) == 2);
    }

    TEST_CASE("a member is called as by std::invoke") {
        struct base {
            int value = 1;
            int plus(int added) const { return value + added; }
            int taken() && { return value; }
        };
        struct derived : base {};
        derived object;
        const auto plus = propagate(&base::plus);
        const auto owner = std::make_unique<derived>();
        CHECK(plus(object, 1) == 2);
        CHECK(plus(&object, 2) == 3);
        CHECK(plus(std::ref(object), 3) == 4);
        CHECK(plus(owner, 4) == 5);
        CHECK(propagate(&base::taken)(derived()) == 1);
        propagate (&base::value)(object) = 7;
        CHECK(propagate(&base::value)(std::cref(object)) == 7);
        static_assert(!std::is_invocable_v<decltype(plus)&, int, int>);
        static_assert(!std::is_invocable_v<decltype(propagate(&base::taken)), derived&>);
    }

    TEST_CASE("a std::jthread takes propagated work, with and without a stop token") {
        recording session;
        {
            const std::jthread plain(propagate([] { COROSCOPE("without a token"); }));
        }
        {
            const std::jthread stopped(propagate([](const std::stop_token& stop) {
                while (!stop.stop_requested()) std::this_thread::yield();
                COROSCOPE("with a token");
            }));
        }
        const recorded found = session.stop();
        CHECK(found.count("without a token") == 1);
        CHECK(found.count("with a token") == 1);
    }

    TEST_CASE(
        "a copy has its original's context, and a callable that is never called changes nothing") {
        recording session;
        std::function<int(int)> callback;
        sets_callback(callback).resume();
        {
            const std::function<int(int)> copy = callback;
            CHECK(copy(1) == 2);
            const auto dropped = propagate([held = std::make_unique<int>(1)] { FAIL(*held); });
        }
        CHECK(current_context() == context{});
        const recorded found = session.stop();
        CHECK(found.event("in callback").task == found.task_index("sets_callback"));
        CHECK(found.trace.tasks.size() == 1);
    }

    TEST_CASE(
        "results and exceptions come back from other threads, and the threads stay as they were") {
        recording session;
        int target = 0;
        auto refers = propagate([&target]() -> int& {
            COROSCOPE("refers");
            return target;
        });
        auto throws = propagate([] { throw std::runtime_error("on the thread"); });
        std::thread([&] {
            CHECK(&refers() == &target);
            CHECK_THROWS_WITH_AS(throws(), "on the thread", std::runtime_error);
            CHECK(*propagate([] { return std::make_unique<int>(4); })() == 4);
            CHECK(current_context() == context{});
        }).join();
        CHECK(session.stop().count("refers") == 1);
    }

    TEST_CASE("many threads may call one callable at a time") {
        constexpr int threads = 4, calls = 500;
        recording session;
        {
            const context_guard guard(context{});
            const auto shared = propagate([](int value) {
                COROSCOPE("shared");
                return value;
            });
            std::vector<std::thread> pool;
            for (int each = 0; each < threads; ++each) {
                pool.emplace_back([&shared] {
                    for (int call = 0; call < calls; ++call) CHECK(shared(call) == call);
                });
            }
            for (std::thread& each : pool) each.join();
        }
        CHECK(session.stop().count("shared") == threads * calls);
    }

    TEST_CASE("a task that is resumed under a propagated context stays itself") {
        recording session;
        slot into;
        auto resumed = resumed_elsewhere(into);
        resumed.resume();
        resumes_another(into).resume();
        CHECK(resumed.done());
        const recorded found = session.stop();
        const std::uint32_t resumer = found.task_index("resumes_another");
        CHECK(found.event("resumed elsewhere").task == found.task_index("resumed_elsewhere"));
        CHECK(found.event("second half").task == found.task_index("resumed_elsewhere"));
        CHECK(found.event("around").task == resumer);
        CHECK(found.event("behind").task == resumer);
        for (const auto& task : found.trace.tasks) CHECK_FALSE(task.losses);
    }
}
