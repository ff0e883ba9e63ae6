// SPDX-License-Identifier: Apache-2.0
#pragma once

// async: drop-in for std::async, whose future can end a range and be awaited (future.hpp). The function
// runs under the caller's context. The last future of a thread waits for it in its destructor, as the
// standard library's does; only one that has become a plain std::future or std::shared_future before that does not. A deferred
// function runs where somebody first waits for it, an awaiting coroutine included.

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

/// A call that is made once, under the context in which it was put together.
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
    context context_ = current_context();
};

/// A call, and the promise that it keeps.
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
        COROSCOPE_DETAIL_PASS_UNWINDING  // the promise breaks then, as the standard library's does
        COROSCOPE_DETAIL_CATCH(...) {
            answer.set_exception(std::current_exception());
        }
    }

    Call call;
    promise<result> answer;
};

/// Runs where somebody waits for it.
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

/// Runs on a thread of its own; where there is none, throws std::system_error or, if it may, defers.
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
        return call_deferred(std::move(work->call));
    }
    static_cast<void>(work.release());
    return future<typename Call::result>(std::move(made), made.coroscope_completion(),
                                         std::move(worker));
}

}  // namespace detail

/// Policies and exceptions are the standard library's: with launch::deferred allowed, a call for which there
/// is no thread is deferred.
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
