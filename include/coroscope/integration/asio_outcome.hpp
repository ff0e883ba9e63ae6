// SPDX-License-Identifier: Apache-2.0
#pragma once

// The outcomes of Asio's operations, from the results that Asio gives to their handlers, and from
// the exceptions that leave a co_await. This header must not include a header of Asio.

#include <concepts>
#include <cstddef>
#include <exception>
#include <type_traits>

#include <coroscope/detail/exceptions.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/integration/asio_task.hpp>
#include <coroscope/trace/await_format.hpp>

namespace coroscope::asio {

using trace::await_outcome;

/// Returns `cancelled` for the code of a cancelled operation or a cancelled channel, else `error`.
/// `category` is the name of the code's category. The code must not be a success.
COROSCOPE_API await_outcome failure_of(int value, const char* category) noexcept;

/// Replaces the outcome of the task's last await, unless that has been recorded as a failure. Must
/// be called on the thread that runs the task, before anything else of it.
COROSCOPE_API void replace_outcome(tracked_task& resumed, await_outcome outcome) noexcept;

/// Whether the name of a template begins with `name`, whatever its namespace and arguments are.
template <class Type, std::size_t Size>
consteval bool is_template_named(const char (&name)[Size]) {
    const char* at = __PRETTY_FUNCTION__;
    while (*at != '=') ++at;  // "… [with Type = a::b<c>; …]"
    at += 2;
    const char* last = at;
    for (; *at != '\0' && *at != '<' && *at != ';' && *at != ']'; ++at)
        if (*at == ':') last = at + 1;
    return __builtin_strncmp(last, name, Size - 1) == 0;
}

/// Whether a handler passes an operation's result to a coroutine without changing it.
template <class Handler>
struct is_coroutine_handler : std::bool_constant<false> {};
template <template <class...> class Wrapper, class First, class... Rest>
struct is_coroutine_handler<Wrapper<First, Rest...>> {
    template <class Type>
    static consteval bool wraps() {
        return asio::is_template_named<Type>("redirect_error_handler<") ||
               asio::is_template_named<Type>("as_tuple_handler<") ||
               asio::is_template_named<Type>("executor_binder<");
    }
    static consteval bool find() {
        using type = Wrapper<First, Rest...>;
        if constexpr (wraps<type>())
            return is_coroutine_handler<First>::value;
        else
            return asio::is_template_named<type>("awaitable_handler<") ||
                   asio::is_template_named<type>("awaitable_async_op_handler<");
    }
    static constexpr bool value = find();
};

/// Whether the handler of an operation belongs to a coroutine that awaits this operation. False for
/// a step of a composed operation. `Operation` is the type of Asio's operation.
template <class Operation>
inline constexpr bool is_awaited_directly = false;
template <template <class...> class Operation, class... Arguments>
inline constexpr bool is_awaited_directly<Operation<Arguments...>> =
    (is_coroutine_handler<Arguments>::value || ...);

/// Asio does not show the results of a channel's operations.
template <class Operation>
inline constexpr bool hides_result = asio::is_template_named<Operation>("channel_");

template <class Code>
concept is_error_code = requires(const Code& code) {
    { code.value() } -> std::convertible_to<int>;
    code.category().name();
};

/// Returns the outcome for the results of an operation. It is unknown if a step of a composed
/// operation fails, because the composed operation may still succeed.
template <class First>
await_outcome outcome_of_results(bool is_direct, const First& first) noexcept {
    if constexpr (is_error_code<First>) {
        if (!first) return await_outcome::value;
        return is_direct ? asio::failure_of(first.value(), first.category().name())
                         : await_outcome::unknown;
    } else if constexpr (std::is_same_v<First, std::exception_ptr>) {
        if (first == nullptr) return await_outcome::value;
        return is_direct ? await_outcome::exception : await_outcome::unknown;
    } else {
        return await_outcome::value;
    }
}

/// Asio's exception with an error code, for a promise over `Frame`; asio.hpp specialises it.
template <class Frame>
struct thrown_error {
    struct type {};  // nothing throws it
};

/// Returns the result of an await. If an exception leaves it and the await resumed the task
/// (`resumed`), records the outcome.
template <class Promise, class Awaiter>
decltype(auto) take_result([[maybe_unused]] Promise& promise, Awaiter& awaiter,
                           [[maybe_unused]] bool resumed) {
#if defined(__cpp_exceptions)
    using error = typename thrown_error<typename Promise::asio_frame>::type;
    try {
        return awaiter.await_resume();
    } catch (const error& thrown) {
        if constexpr (requires { thrown.code(); }) {
            if (resumed)
                asio::replace_outcome(
                    promise.own_task(),
                    asio::failure_of(thrown.code().value(), thrown.code().category().name()));
        }
        throw;
    } catch (...) {
        if (resumed) asio::replace_outcome(promise.own_task(), await_outcome::exception);
        throw;
    }
#else
    return awaiter.await_resume();
#endif
}

}  // namespace coroscope::asio
