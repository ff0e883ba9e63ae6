// SPDX-License-Identifier: Apache-2.0
#pragma once

// return_value or return_void of a promise that stands over another: a coroutine looks for their
// names, and exactly one may be declared, so each kind of promise gets its own base.

#include <concepts>
#include <type_traits>
#include <utility>

#include <coroscope/detail/task_state.hpp>
#include <coroscope/result_validator.hpp>

namespace coroscope::detail {

template <class Promise>
concept returns_void = requires(Promise& promise) { promise.return_void(); };

struct no_parameter {};

// The parameter of a member function that is neither overloaded nor a template: what a braced
// list in `co_return {…}` or `co_yield {…}` initialises.
template <class Function>
struct only_parameter {
    using type = no_parameter;
};
template <class Class, class Result, class Parameter>
struct only_parameter<Result (Class::*)(Parameter)> {
    using type = Parameter;
};
template <class Class, class Result, class Parameter>
struct only_parameter<Result (Class::*)(Parameter) noexcept> {
    using type = Parameter;
};

template <class Promise>
struct returned {
    using type = no_parameter;
};
template <class Promise>
    requires requires { typename Promise::returned_type; }
struct returned<Promise> {
    using type = typename Promise::returned_type;
};
template <class Promise>
    requires requires { &Promise::return_value; }
struct returned<Promise> : only_parameter<decltype(&Promise::return_value)> {};

template <class Promise>
struct yielded {
    using type = no_parameter;
};
template <class Promise>
    requires requires { &Promise::yield_value; }
struct yielded<Promise> : only_parameter<decltype(&Promise::yield_value)> {};

/// Asks the validator of a promise or of its results, where there is one, about a result.
template <class Promise, class Value>
void validate_result(const task_state& task, const Value& value) noexcept {
    using declared = std::remove_cvref_t<typename returned<Promise>::type>;
    using result = std::conditional_t<std::is_same_v<declared, no_parameter>, Value, declared>;
    using key = std::conditional_t<validated_by<Promise, Value>, Promise, result>;
    if constexpr (validated_by<key, Value>) {
        if (load_gate() != 0 && validates_results() && result_validator<key>::is_anomalous(value))
            anomalous_result(task);
    }
}

template <class Self, class Promise>
struct promise_returns {
    template <class Value = typename returned<Promise>::type>
        requires requires(Promise& promise, Value&& value) {
            promise.return_value(static_cast<Value&&>(value));
        }
    void return_value(Value&& value) noexcept(
        noexcept(std::declval<Promise&>().return_value(static_cast<Value&&>(value)))) {
        validate_result<Promise, std::remove_cvref_t<Value>>(
            static_cast<Self*>(this)->coroscope_task(), value);
        static_cast<Self*>(this)->promise().return_value(static_cast<Value&&>(value));
    }
};

template <class Self, returns_void Promise>
struct promise_returns<Self, Promise> {
    void return_void() noexcept(noexcept(std::declval<Promise&>().return_void())) {
        static_cast<Self*>(this)->promise().return_void();
    }
};

}  // namespace coroscope::detail
