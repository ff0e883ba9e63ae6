// SPDX-License-Identifier: Apache-2.0
#pragma once

// async: a drop-in replacement for std::async, whose future can end a range and be awaited
// (future.hpp). The function runs in the caller's context. As in the standard library, the last
// future of a thread waits for it in its destructor; if that future was converted to a plain
// std::future or std::shared_future, it does not wait. A deferred function runs in the first thread
// or coroutine that waits for it.

#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include <coroscope/context.hpp>
#include <coroscope/detail/exceptions.hpp>
#include <coroscope/future.hpp>

namespace coroscope {
namespace detail {

/// A call that is made once, in the context of its construction.
template <class Function, class... Arguments>
class bound_call {
public:
    using result = std::invoke_result_t<Function, Arguments...>;

    template <class Given, class... Values>
    explicit bound_call(Given&& function, Values&&... values)
        : function_(static_cast<Given&&>(function)), arguments_(static_cast<Values&&>(values)...) {}

    result operator()() {
        const context_guard guard(context_);
        return std::apply(std::move(function_), std::move(arguments_));
    }

private:
    Function function_;
    std::tuple<Arguments...> arguments_;
    context context_ = coroscope::current_context();
};

/// A call and its promise.
template <class Call>
class promised_call {
public:
    using result = typename Call::result;
    explicit promised_call(Call&& made) : call(std::move(made)) {}

    COROSCOPE_DETAIL_CATCHES_NULL void operator()() {
        COROSCOPE_DETAIL_TRY {
            if constexpr (std::is_void_v<result>) {
                call();
                answer.set_value();
            } else {
                answer.set_value(call());
            }
        }
        COROSCOPE_DETAIL_PASS_UNWINDING  // the promise is then broken, as the standard library's
        COROSCOPE_DETAIL_CATCH(...) {
            answer.set_exception(std::current_exception());
        }
    }

    Call call;
    promise<result> answer;
};

/// Runs in the thread that waits for it.
template <class Call>
auto call_deferred(Call&& call) {
    using result = typename Call::result;
    completion_ptr completed(new completion);
    std::future<result> state = std::async(
        std::launch::deferred, [call = static_cast<Call&&>(call), completed]() mutable -> result {
            const producing guard(*completed);
            return call();
        });
    return future<result>(std::move(state), std::move(completed));
}

/// Runs on a thread of its own. If no thread can be started, throws std::system_error or, if
/// allowed, defers the call.
template <class Call>
auto call_on_thread(Call&& call, bool may_defer) {
    auto work = std::make_unique<promised_call<Call>>(static_cast<Call&&>(call));
    auto made = work->answer.get_future();
    joiner_ptr worker(new joiner);
    COROSCOPE_DETAIL_TRY {
        worker.start([running = work.get()] {
            const std::unique_ptr<promised_call<Call>> owned(running);
            (*owned)();
        });
    }
    COROSCOPE_DETAIL_CATCH(const std::system_error&) {
        if (!may_defer) COROSCOPE_DETAIL_RETHROW;
        return detail::call_deferred(std::move(work->call));
    }
    static_cast<void>(work.release());
    return future<typename Call::result>(std::move(made), made.coroscope_completion(),
                                         std::move(worker));
}

}  // namespace detail

/// Policies and exceptions are the standard library's. If launch::deferred is allowed, a call for
/// which no thread can be started is deferred.
template <class Function, class... Arguments>
auto async(std::launch policy, Function&& function, Arguments&&... arguments) {
    using call_type = detail::bound_call<std::decay_t<Function>, std::decay_t<Arguments>...>;
    call_type call(static_cast<Function&&>(function), static_cast<Arguments&&>(arguments)...);
    const bool may_defer = (policy & std::launch::deferred) == std::launch::deferred;
    if ((policy & std::launch::async) == std::launch::async)
        return detail::call_on_thread(std::move(call), may_defer);
    return detail::call_deferred(std::move(call));
}

template <class Function, class... Arguments>
    requires(!std::is_same_v<std::decay_t<Function>, std::launch>)
auto async(Function&& function, Arguments&&... arguments) {
    return coroscope::async(std::launch::async | std::launch::deferred,
                            static_cast<Function&&>(function),
                            static_cast<Arguments&&>(arguments)...);
}

}  // namespace coroscope
