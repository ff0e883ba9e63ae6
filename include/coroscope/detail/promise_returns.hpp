// SPDX-License-Identifier: Apache-2.0
#pragma once

// return_value or return_void of a promise that stands over another: a coroutine looks for their
// names, and exactly one may be declared, so each kind of promise gets its own base.

#include <concepts>
#include <type_traits>

#include <coroscope/detail/promise_parameters.hpp>
#include <coroscope/detail/task_state.hpp>
#include <coroscope/result_validator.hpp>

namespace coroscope::detail {

template <class Promise>
concept returns_void = requires(Promise& promise) { promise.return_void(); };

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
