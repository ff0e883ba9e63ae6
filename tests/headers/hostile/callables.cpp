// SPDX-License-Identifier: Apache-2.0

// Callables, executors, labels, values and futures of a hostile library.
#include <memory>

#include <coroscope/async.hpp>
#include <coroscope/await_future.hpp>
#include <coroscope/coroscope.hpp>
#include <coroscope/future.hpp>
#include <coroscope/integration/jthread.hpp>
#include <coroscope/packaged_task.hpp>
#include <coroscope/scheduled_profile.hpp>

#include "hostile.hpp"

namespace hostile {

struct callable : value {
    template <class... Arguments>
    value operator()(Arguments&&...) const {
        return {};
    }
    value member(value) const { return {}; }
};
struct action : value {
    template <class... Arguments>
    void operator()(Arguments&&...) const {}
};

template <class Parameter>
struct executor : value {
    template <class Function>
    void execute(Function&& function) {
        static_cast<Function&&>(function)();
    }
};
struct poster : value {
    template <class Function>
    void post(Function&& function) {
        static_cast<Function&&>(function)();
    }
};

struct text : value {
    const char* data() const { return "text"; }
    std::size_t size() const { return 4; }
};
struct numbers : value {
    using value_type = value;
    const value* data() const { return nullptr; }
    std::size_t size() const { return 0; }
    const value* begin() const { return nullptr; }
    const value* end() const { return nullptr; }
};
struct tensor : value {
    std::size_t rank() const { return 1; }
    std::size_t extent(std::size_t) const { return 1; }
};
enum class colour { red };

void propagates() {
    const value given;
    auto propagated = coroscope::propagate(callable{});
    static_cast<void>(propagated(given, 1));
    static_cast<void>(std::as_const(propagated)(given));
    static_cast<void>(std::move(propagated)(value{}));
    auto member = coroscope::propagate(&callable::member);
    callable called;
    static_cast<void>(member(called, given));
    static_cast<void>(member(std::make_unique<callable>(), given));
    auto number = coroscope::propagate(&value::number);
    static_cast<void>(number(given));
}

void executes(executor<value>& kept) {
    coroscope::executor_adaptor referred(kept);
    referred.execute(callable{});
    referred.post(action{});
    coroscope::executor_adaptor<poster> held(poster{});
    held.execute(callable{});
    coroscope::jthread thread(action{}, value{});
    coroscope::jthread other{action{}};
}
coroscope::task<> hops(executor<value>& kept) {
    coroscope::executor_adaptor adaptor(kept);
    co_await adaptor.schedule();
    co_await COROSCOPE_AWAIT("label", adaptor.schedule());
}

void records(const text& label) {
    coroscope::record_function recorded(label, value{}, text{}, numbers{}, tensor{}, colour::red);
    recorded.begin(label, value{}, numbers{});
    recorded.outputs(value{}, numbers{}, tensor{});
    recorded.on_end(action{});
    auto wrapped = coroscope::record_function::of("label", callable{});
    static_cast<void>(wrapped(value{}, numbers{}));
    auto acts = coroscope::record_function::of("label", action{});
    acts(value{});
    COROSCOPE_ARGS("arguments", label, numbers{}, tensor{}, colour::red);
    const coroscope::attribute attribute("key", label);
    const coroscope::range range(label);
    range.on_end(action{});
    const coroscope::stream_range stream(label);
    stream.item();
    stream.on_end(action{});
    coroscope::fiber_context fiber;
    fiber.unwind(action{});
}

struct observed : coroscope::observer_context, value {};
struct starts : value {
    std::unique_ptr<observed> operator()(const coroscope::scope_info&) const { return nullptr; }
};
void observes() {
    coroscope::add_global_observer(coroscope::observer(starts{}, action{}));
    coroscope::add_thread_local_observer(coroscope::observer(action{}));
}
void profiles() {
    coroscope::scheduled_profile<action> profile({}, {}, action{});
    profile.step();
}

void produces() {
    coroscope::range ends("label");
    coroscope::promise<value> promise;
    promise.set_value(value{});
    auto future = coroscope::call_end_callbacks_on_future(ends, promise.get_future());
    coroscope::future<value> other;
    other = std::move(future);
    auto shared = coroscope::call_end_callbacks_on_future(ends, other.share());
    coroscope::promise<value&> referring;
    value given;
    referring.set_value(given);
    coroscope::packaged_task<value(value)> task(callable{});
    task(given);
    auto pending = coroscope::async(callable{}, given);
    coroscope::record_function recorded("label");
    pending = coroscope::call_end_callbacks_on_future(recorded, std::move(pending));
}
coroscope::task<value> awaits(coroscope::future<value> future,
                              coroscope::shared_future<value> shared) {
    co_await shared;
    co_await COROSCOPE_AWAIT("label", shared);
    co_return co_await std::move(future);
}

/// Futures of a library: one continues by then(), one by thenTry(), and one has its own adaptor.
template <class Result>
struct then_future : value {
    Result get() { return {}; }
    template <class Function>
    then_future then(Function function) {
        static_cast<void>(function(then_future()));
        return {};
    }
};
template <class Result>
struct outcome : value {
    Result& value() { return value_; }  // NOLINT(readability-identifier-naming)
    Result value_;
};
template <class Result>
struct try_future : value {
    template <class Function>
    try_future thenTry(Function function) {
        static_cast<void>(function(outcome<Result>()));
        return {};
    }
    template <class Executor>
    try_future via(Executor&&) {
        return {};
    }
};
template <class Result>
struct adapted_future : value {
    Result get() { return {}; }
};

}  // namespace hostile

template <class Result>
struct coroscope::future_adaptor<hostile::adapted_future<Result>> {
    using future = hostile::adapted_future<Result>;
    static bool is_ready(const future&) { return true; }
    template <class Done>
    static void deliver(future&& pending, Done done) {
        done(std::move(pending));
    }
    static future attach(future&& pending, coroscope::range_end end) {
        end();
        return std::move(pending);
    }
};

namespace hostile {

template <class Result>
auto operator co_await(adapted_future<Result>&& pending) {
    return coroscope::await_future(std::move(pending));
}

coroscope::task<value> attaches(executor<value>& kept) {
    const coroscope::range ends("label");
    static_cast<void>(coroscope::call_end_callbacks_on_future(ends, then_future<value>()));
    static_cast<void>(coroscope::call_end_callbacks_on_future(ends, try_future<value>()));
    static_cast<void>(coroscope::call_end_callbacks_on_future(ends, try_future<value>(), kept));
    co_return co_await coroscope::call_end_callbacks_on_future(ends, adapted_future<value>());
}

}  // namespace hostile

int main() {}
