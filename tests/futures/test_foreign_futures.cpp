// SPDX-License-Identifier: Apache-2.0

// Futures of other libraries, in the forms that future_adaptor knows and by a specialisation.

#include <coroscope/await_future.hpp>
#include <coroscope/future_adaptor.hpp>

#include <functional>
#include <optional>
#include <type_traits>

#include "support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace small {

/// The shared state of the small libraries below: a value or an error, and a continuation.
template <class T>
struct shared_result {
    using stored = std::conditional_t<std::is_reference_v<T>,
                                      std::reference_wrapper<std::remove_reference_t<T>>, T>;
    std::optional<stored> value;
    std::exception_ptr error;
    std::function<void()> continuation;

    bool ready() const { return value || error; }
    void complete() {
        if (auto next = std::exchange(continuation, nullptr)) next();
    }
    void when_ready(std::function<void()> next) {
        if (ready()) return next();
        continuation = std::move(next);
    }
    T get() {
        if (error) std::rethrow_exception(error);
        return static_cast<T>(std::move(*value));
    }
    /// The producer is destroyed without a result, and the continuation with it.
    void abandon() { continuation = nullptr; }
    template <class Produce>
    void produce(Produce&& produce_value) {
        try {
            value.emplace(static_cast<T>(produce_value()));
        } catch (...) {
            error = std::current_exception();
        }
        complete();
    }
};

}  // namespace small

using small::shared_result;

/// A library in folly's style: via(executor) makes a future of a semi-future, thenTry() chains.
namespace folly_like {

template <class T>
class try_of {
public:
    explicit try_of(shared_result<T>& from) : from_(&from) {}
    T value() && { return from_->get(); }

private:
    shared_result<T>* from_;
};

template <class T>
class future {
public:
    explicit future(std::shared_ptr<shared_result<T>> state) : state_(std::move(state)) {}
    template <class Function>
    auto thenTry(Function function) && {  // NOLINT(readability-identifier-naming): folly's name
        using result = decltype(function(std::declval<try_of<T>>()));
        auto next = std::make_shared<shared_result<result>>();
        auto held = std::make_shared<Function>(std::move(function));
        state_->when_ready([from = state_, next, held] {
            next->produce([&]() -> decltype(auto) { return (*held)(try_of<T>(*from)); });
        });
        return future<result>(next);
    }
    bool ready() const { return state_->ready(); }
    T get() && { return state_->get(); }

private:
    std::shared_ptr<shared_result<T>> state_;
};

struct executor {};

template <class T>
class semi_future {
public:
    explicit semi_future(std::shared_ptr<shared_result<T>> state) : state_(std::move(state)) {}
    future<T> via(executor&) && { return future<T>(state_); }

private:
    std::shared_ptr<shared_result<T>> state_;
};

}  // namespace folly_like

/// A library whose then(f) passes the completed future.
namespace then_like {

template <class T>
class future {
public:
    future() = default;
    explicit future(std::shared_ptr<shared_result<T>> state) : state_(std::move(state)) {}
    template <class Function>
    auto then(Function function) && -> future<decltype(function(std::declval<future>()))> {
        using result = decltype(function(std::declval<future>()));
        auto next = std::make_shared<shared_result<result>>();
        auto held = std::make_shared<Function>(std::move(function));
        state_->when_ready([from = state_, next, held] {
            next->produce([&]() -> decltype(auto) { return (*held)(future(from)); });
        });
        return future<result>(next);
    }
    bool ready() const { return state_->ready(); }
    T get() { return state_->get(); }

private:
    std::shared_ptr<shared_result<T>> state_;
};

}  // namespace then_like

/// A library of another kind, for which a user writes the adaptor. Its jobs are never empty.
namespace callback_like {

struct job {
    explicit job(std::shared_ptr<shared_result<int>> of) : state(std::move(of)) {}
    std::shared_ptr<shared_result<int>> state;
    std::shared_ptr<std::function<void()>> before = std::make_shared<std::function<void()>>();
    int get() { return state->get(); }
};

}  // namespace callback_like

template <>
struct coroscope::future_adaptor<callback_like::job> {
    static callback_like::job attach(callback_like::job&& future, coroscope::range_end end) {
        *future.before = [end = std::move(end)] { end(); };
        return std::move(future);
    }
    static bool is_ready(const callback_like::job& future) { return future.state->ready(); }
    template <class Done>
    static void deliver(callback_like::job&& future, Done done) {
        const auto state = future.state;
        state->when_ready([future, done]() mutable { done(std::move(future)); });
    }
};

static_assert(adaptable_future<folly_like::future<int>>);
static_assert(adaptable_future<then_like::future<int>>);
static_assert(adaptable_future<callback_like::job>);
static_assert(!adaptable_future<folly_like::semi_future<int>>);
static_assert(!adaptable_future<int>);

TEST_SUITE("foreign futures") {
    TEST_CASE("a folly-style future ends the range before it completes, with value, error and "
              "move-only") {
        auto state = std::make_shared<shared_result<only_moves>>();
        const range ends("folly-style");
        auto pending = call_end_callbacks_on_future(ends, folly_like::future(state));
        bool was_ready = true;
        ends.on_end([&] { was_ready = pending.ready(); });
        std::thread([&] { state->produce([] { return only_moves(4); }); }).join();
        CHECK(ends.ended());
        CHECK_FALSE(was_ready);
        CHECK(*std::move(pending).get().value == 4);

        auto failing = std::make_shared<shared_result<int>>();
        const range fails("folly-style, fails");
        auto failed = call_end_callbacks_on_future(fails, folly_like::future(failing));
        failing->produce([]() -> int { throw std::runtime_error("lost"); });
        CHECK(fails.ended());
        CHECK(message_of([&] { std::move(failed).get(); }) == "lost");
    }

    TEST_CASE("a folly-style future may return a reference, be complete already or be abandoned") {
        int target = 0;
        auto state = std::make_shared<shared_result<int&>>();
        const range ends("folly-style, reference");
        auto pending = call_end_callbacks_on_future(ends, folly_like::future(state));
        state->produce([&target]() -> int& { return target; });
        CHECK(&std::move(pending).get() == &target);

        const range inline_end("folly-style, complete already");
        auto complete = call_end_callbacks_on_future(inline_end, folly_like::future(state));
        CHECK(inline_end.ended());
        CHECK(complete.ready());

        auto lost = std::make_shared<shared_result<int>>();
        const range abandoned("folly-style, abandoned");
        const auto never = call_end_callbacks_on_future(abandoned, folly_like::future(lost));
        CHECK_FALSE(abandoned.ended());
        lost->abandon();
        CHECK(abandoned.ended());
    }

    TEST_CASE("a semi-future gets an executor first") {
        folly_like::executor loop;
        auto state = std::make_shared<shared_result<int>>();
        state->value = 6;
        const range ends("by an executor");
        auto complete = call_end_callbacks_on_future(ends, folly_like::semi_future(state), loop);
        CHECK(ends.ended());
        CHECK(std::move(complete).get() == 6);
    }

    TEST_CASE("a future with then() ends the range, complete, failed or abandoned") {
        auto state = std::make_shared<shared_result<int>>();
        const range ends("then");
        auto pending = call_end_callbacks_on_future(ends, then_like::future(state));
        CHECK_FALSE(ends.ended());
        state->produce([] { return 3; });
        CHECK(ends.ended());
        CHECK(pending.get() == 3);

        const range inline_end("then, complete already");
        auto complete = call_end_callbacks_on_future(inline_end, std::move(pending));
        CHECK(inline_end.ended());

        auto lost = std::make_shared<shared_result<int>>();
        const range abandoned("then, abandoned");
        const auto never = call_end_callbacks_on_future(abandoned, then_like::future(lost));
        CHECK_FALSE(abandoned.ended());
        lost->abandon();
        CHECK(abandoned.ended());
    }

    TEST_CASE("a future with then() may return a move-only value, a reference or an error, from "
              "another thread") {
        int target = 0;
        auto moving = std::make_shared<shared_result<only_moves>>();
        auto referring = std::make_shared<shared_result<int&>>();
        auto failing = std::make_shared<shared_result<int>>();
        const range one("moves");
        const range two("refers");
        const range three("fails");
        auto moved = call_end_callbacks_on_future(one, then_like::future(moving));
        auto reference = call_end_callbacks_on_future(two, then_like::future(referring));
        auto failed = call_end_callbacks_on_future(three, then_like::future(failing));
        std::thread([&] {
            moving->produce([] { return only_moves(4); });
            referring->produce([&target]() -> int& { return target; });
            failing->produce([]() -> int { throw std::runtime_error("lost"); });
        }).join();
        CHECK(one.ended());
        CHECK(two.ended());
        CHECK(three.ended());
        CHECK(*moved.get().value == 4);
        CHECK(&reference.get() == &target);
        CHECK(message_of([&] { failed.get(); }) == "lost");
    }

    TEST_CASE("a user's adaptor ends the range, and lets a coroutine await") {
        recording session;
        callback_like::job work(std::make_shared<shared_result<int>>());
        const range ends("adapted");
        auto attached = call_end_callbacks_on_future(ends, work);
        auto waiting = start([](callback_like::job awaited) -> task<int> {
            co_return co_await await_future(std::move(awaited));
        }(attached));
        std::thread producer([&work] {
            (*work.before)();
            work.state->produce([] { return 8; });
        });
        producer.join();
        CHECK(sync_wait(waiting) == 8);
        CHECK(session.stop().count("adapted") == 1);
    }
}
