// SPDX-License-Identifier: Apache-2.0
#pragma once

// return_value or return_void of a promise that wraps another promise. A coroutine looks up these
// names, and exactly one of them may be declared, so each kind of promise has its own base.
//
// `co_return expression` calls the promise's return_value with the expression. `co_return {…}`
// selects among the promise's functions by the list, and no template deduces a type from a list.
// The list itself must therefore reach the promise: an empty one as `{}`, another one as
// `{references to its elements…}`. Only if the promise has one function, or if its result is
// validated, the list becomes an object of the function's parameter type here.

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <type_traits>

#include <coroscope/detail/promise_parameters.hpp>
#include <coroscope/detail/task_transitions.hpp>
#include <coroscope/result_validator.hpp>

namespace coroscope::detail {

template <class Promise>
concept returns_void = requires(Promise& promise) { promise.return_void(); };

template <class Value>
struct is_validated {
    template <class Result>
    static constexpr bool one = validated_by<Result, Value>;
};

template <class Promise, class Value>
consteval auto find_validator_key() {
    using declared = std::remove_cvref_t<typename returned<Promise>::type>;
    if constexpr (validated_by<Promise, Value>) {
        return std::type_identity<Promise>();
    } else if constexpr (!std::is_same_v<declared, no_parameter>) {
        return std::type_identity<declared>();
    } else {
        using guess = typename guessed_parameter<is_validated<Value>, Promise>::type;
        return std::type_identity<
            std::conditional_t<std::is_same_v<guess, no_parameter>, Value, guess>>();
    }
}

/// The type whose validator checks a result: the promise, the parameter of return_value, else a
/// template argument of the coroutine's type, else the result itself.
template <class Promise, class Value>
using validator_key = typename decltype(detail::find_validator_key<Promise, Value>())::type;

/// Passes a result to the validator of the promise or of its results, if there is one.
template <class Promise, class Value>
void validate_result(const task_state& task, const Value& value) noexcept {
    using key = validator_key<Promise, Value>;
    if constexpr (validated_by<key, Value>) {
        if (detail::load_gate() != 0 && detail::validates_results() &&
            result_validator<key>::is_anomalous(value))
            detail::anomalous_result(task);
    }
}

template <class Promise, class Value>
concept returns = requires(Promise& promise, Value&& value) {
    promise.return_value(static_cast<Value&&>(value));
};
template <class Promise, class... Elements>
concept returns_list = requires(Promise& promise, Elements&&... elements) {
    promise.return_value({static_cast<Elements&&>(elements)...});
};

/// The type to which a braced list is converted if it does not reach the promise as a list. A
/// reference only to an existing object.
template <class Promise, class Parameter = typename returned<Promise>::type>
struct list_parameter {
    using type = std::remove_reference_t<Parameter>;
};
template <class Promise, class Referred>
    requires(!std::is_const_v<Referred>)
struct list_parameter<Promise, Referred&> {
    using type = Referred&;
};

template <class Promise, class Parameter>
concept validated_result =
    validated_by<Promise, Parameter> || validated_by<std::remove_cv_t<Parameter>, Parameter>;

/// Whether a braced list reaches the promise as a list. It does not if the promise has one
/// function, because the list then has one meaning, or if results are validated, because a
/// validator needs an object.
template <class Promise, class Parameter = typename list_parameter<Promise>::type>
concept returns_lists =
    !return_value_of<Promise>::single && !declares_result<Promise> &&
    (std::same_as<Parameter, no_parameter> || !validated_result<Promise, Parameter>);

template <class Promise, class Parameter>
concept returns_converted =
    !std::same_as<std::remove_cvref_t<Parameter>, no_parameter> &&
    ((without_braces<return_value_of<Promise>, Parameter> && returns<Promise, Parameter>) ||
     (!without_braces<return_value_of<Promise>, Parameter> && returns_list<Promise, Parameter>));

/// Whether a single element of a list becomes the parameter when no function of the promise is
/// selected: it has that type, or it is a number.
template <class Parameter, class Element>
concept becomes_parameter =
    (std::is_scalar_v<Parameter>
         ? !std::is_lvalue_reference_v<Element> ||
               !std::is_same_v<std::remove_cvref_t<Element>, std::remove_cv_t<Parameter>>
         : !std::is_reference_v<Element> &&
               std::is_convertible_v<std::add_pointer_t<Element>, Parameter*>);

/// The lists that reach the promise. Lists of one element include those that the promise rejects,
/// so that no other function is called for them. They exclude those whose element is the parameter
/// itself or becomes a number: for these the other function is right.
template <class Parameter, class Promise, class... Elements>
inline constexpr bool reaches_promise = [] {
    if constexpr ((std::is_function_v<std::remove_reference_t<Elements>> || ...)) {
        return false;
    } else if constexpr (sizeof...(Elements) == 1 && !std::same_as<Parameter, no_parameter>) {
        return !(becomes_parameter<Parameter, Elements> || ...);
    } else {
        return returns_list<Promise, Elements...>;
    }
}();

/// A braced list that is not empty: references to its elements, valid for one call.
template <class Promise>
class returned_list {
public:
    template <class... Elements>
        requires(sizeof...(Elements) > 0 &&
                 reaches_promise<typename list_parameter<Promise>::type, Promise, Elements...>)
    // NOLINTNEXTLINE(google-explicit-constructor): a list becomes one
    returned_list(Elements&&... elements) noexcept
        : elements_{const_cast<void*>(
              static_cast<const volatile void*>(__builtin_addressof(elements)))...},
          give_(&give<Elements...>) {
        static_assert(sizeof...(Elements) <= most, "co_return {...} of more than 16 elements");
    }
    returned_list(const returned_list&) = delete;
    returned_list& operator=(const returned_list&) = delete;

    void give_to(Promise& promise) const { give_(promise, elements_); }

private:
    static constexpr std::size_t most = 16;

    struct cursor {
        template <class Element>
        Element&& take() noexcept {
            return static_cast<Element&&>(*static_cast<std::remove_reference_t<Element>*>(*next++));
        }
        void* const* next;
    };
    template <class... Elements>
    static void give(Promise& promise, void* const* elements) {
        cursor from{elements};
        // The braces make the evaluation go from left to right.
        promise.return_value({from.template take<Elements>()...});
    }

    void* elements_[most];
    void (*give_)(Promise& promise, void* const* elements);
};

template <class Self, class Promise>
struct promise_returns {
    /// For an expression.
    template <class Value>
        requires returns<Promise, Value>
    void return_value(Value&& value) noexcept(
        noexcept(std::declval<Promise&>().return_value(static_cast<Value&&>(value)))) {
        detail::validate_result<Promise, std::remove_cvref_t<Value>>(
            static_cast<Self*>(this)->coroscope_task(), value);
        static_cast<Self*>(this)->promise().return_value(static_cast<Value&&>(value));
    }

    /// For a braced list that is passed as a list.
    template <class Theirs = Promise>
        requires(returns_lists<Theirs> && return_value_of<Theirs>::takes_empty_list)
    void return_value(std::initializer_list<no_element>) {
        static_cast<Self*>(this)->promise().return_value({});
    }
    template <class Theirs = Promise>
        requires returns_lists<Theirs>
    void return_value(const returned_list<std::type_identity_t<Theirs>>& list) {
        list.give_to(static_cast<Self*>(this)->promise());
    }

    /// For a braced list that is converted here. These are const so that all other functions are
    /// better matches.
    template <class Theirs = Promise, class Value = typename list_parameter<Theirs>::type>
        requires returns_converted<Theirs, Value>
    void return_value(std::type_identity_t<Value>&& value) const {
        give<Value>(value);
    }
    template <class Theirs = Promise, class Value = typename list_parameter<Theirs>::type>
        requires(!std::is_reference_v<Value> && !returns_lists<Theirs> &&
                 returns_converted<Theirs, const Value&>)
    void return_value(const std::type_identity_t<Value>& value) const {
        give<const Value&>(value);
    }

private:
    template <class Value>
    void give(std::remove_reference_t<Value>& value) const {
        Self& self = *const_cast<Self*>(static_cast<const Self*>(this));
        detail::validate_result<Promise, std::remove_cvref_t<Value>>(self.coroscope_task(), value);
        if constexpr (without_braces<return_value_of<Promise>, Value>) {
            self.promise().return_value(static_cast<Value&&>(value));
        } else {
            self.promise().return_value({static_cast<Value&&>(value)});
        }
    }
};

template <class Self, returns_void Promise>
struct promise_returns<Self, Promise> {
    void return_void() noexcept(noexcept(std::declval<Promise&>().return_void())) {
        static_cast<Self*>(this)->promise().return_void();
    }
};

}  // namespace coroscope::detail
