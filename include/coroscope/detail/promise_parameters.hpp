// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a promise's functions declare as their parameters. A promise that stands over another must know it in two cases: a
// braced list (`co_yield {…}`) initialises that type and none that a template deduces; and what is converted to it must
// live until the end of the await expression, because a generator keeps the address of what was yielded while it
// is suspended, and an awaiter that of its operand.

#include <concepts>
#include <source_location>
#include <type_traits>

namespace coroscope::detail {

struct no_parameter {};

/// The first parameter, behind which a coroutine gives none.
template <class Function>
struct only_parameter {
    using type = no_parameter;
};
template <class Class, class Result, class Parameter, class... Defaulted>
struct only_parameter<Result (Class::*)(Parameter, Defaulted...)> {
    using type = Parameter;
};
template <class Class, class Result, class Parameter, class... Defaulted>
struct only_parameter<Result (Class::*)(Parameter, Defaulted...) const> {
    using type = Parameter;
};
template <class Class, class Result, class Parameter, class... Defaulted>
struct only_parameter<Result (Class::*)(Parameter, Defaulted...) noexcept> {
    using type = Parameter;
};
template <class Class, class Result, class Parameter, class... Defaulted>
struct only_parameter<Result (Class::*)(Parameter, Defaulted...) const noexcept> {
    using type = Parameter;
};

// Where the function is overloaded, an argument of the promise's template or of its coroutine type's (task<T>) that one of
// the overloads takes as it is.
template <class... Types>
struct type_list {};

template <class Argument>
using value_argument = std::conditional_t<std::is_object_v<std::remove_reference_t<Argument>>,
                                          std::remove_reference_t<Argument>, no_parameter>;

template <class Type>
struct arguments_of {
    using type = type_list<>;
};
template <template <class...> class Template, class... Arguments>
struct arguments_of<Template<Arguments...>> {
    using type = type_list<value_argument<Arguments>...>;
};

/// The first of them that `Takes` says yes to; else no_parameter.
template <class Takes, class List>
struct first_taken {
    using type = no_parameter;
};
template <class Takes, class First, class... Rest>
struct first_taken<Takes, type_list<First, Rest...>>
    : std::conditional_t<Takes::template one<First>, std::type_identity<First>,
                         first_taken<Takes, type_list<Rest...>>> {};

template <class Takes, class Promise>
struct guessed_parameter {
    using coroutine = std::remove_cvref_t<decltype(std::declval<Promise&>().get_return_object())>;
    using of_promise = typename first_taken<Takes, typename arguments_of<Promise>::type>::type;
    using of_coroutine = typename first_taken<Takes, typename arguments_of<coroutine>::type>::type;
    using type =
        std::conditional_t<std::is_same_v<of_promise, no_parameter>, of_coroutine, of_promise>;
};

// `function`_of<Promise> knows the parameter: of the only such function, else as guessed, else of a template with its
// default arguments.
#define COROSCOPE_DETAIL_PARAMETER_OF(function)                                                    \
    template <class Promise>                                                                       \
    struct function##_of {                                                                         \
        template <class Value, class Parameter>                                                    \
        static constexpr bool has = requires(Promise& promise, Value&& value) {                    \
            static_cast<decltype(promise.function(static_cast<Value&&>(value))) (Promise::*)(      \
                Parameter)>(&Promise::function);                                                   \
        };                                                                                         \
        template <class Value>                                                                     \
        static constexpr bool one = [] {                                                           \
            if constexpr (has<Value, Value&&>)                                                     \
                return true;                                                                       \
            else if constexpr (has<Value, const Value&>)                                           \
                return true;                                                                       \
            else                                                                                   \
                return has<Value, Value>;                                                          \
        }();                                                                                       \
        static consteval auto find() {                                                             \
            if constexpr (requires { &Promise::function; }) {                                      \
                return only_parameter<decltype(&Promise::function)>();                             \
            } else {                                                                               \
                using guess = guessed_parameter<function##_of, Promise>;                           \
                if constexpr (!std::is_same_v<typename guess::type, no_parameter>) {               \
                    return guess();                                                                \
                } else if constexpr (requires { &Promise::template function<>; }) {                \
                    return only_parameter<decltype(&Promise::template function<>)>();              \
                } else {                                                                           \
                    return std::type_identity<no_parameter>();                                     \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
COROSCOPE_DETAIL_PARAMETER_OF(return_value);
COROSCOPE_DETAIL_PARAMETER_OF(yield_value);
#undef COROSCOPE_DETAIL_PARAMETER_OF

template <class Promise>
struct returned {
    using type = typename decltype(return_value_of<Promise>::find())::type;
};
template <class Promise>
    requires requires { typename Promise::returned_type; }
struct returned<Promise> {
    using type = typename Promise::returned_type;
};

/// What yield_value converts to; no reference.
template <class Promise>
using yielded = std::remove_reference_t<typename decltype(yield_value_of<Promise>::find())::type>;

/// Stands for a Value, and is used up as a conversion: what takes it takes a Value unconverted, or anything at all.
template <class Value>
struct unconverted {
    operator Value&&() const noexcept;  // NOLINT(google-explicit-constructor)
};

template <class Promise, class Value>
concept yields =
    requires(Promise& promise, Value&& value) { promise.yield_value(static_cast<Value&&>(value)); };

/// A template with a deduced return type is instantiated to be asked, and may not compile for a constant of a type that
/// only moves.
template <class Promise, class Value>
concept yields_constant =
    (std::is_copy_constructible_v<Value> || !requires { &Promise::template yield_value<Value>; }) &&
    yields<Promise, const Value&>;

/// Does yield_value take a Value as it is? If not, what it is converted to must live as long as the suspension.
template <class Promise, class Value, class Converted = yielded<Promise>>
concept yields_as_it_is =
    yields<Promise, Value> && !std::same_as<Value, Converted> &&
    !std::same_as<Value, const Converted&> &&
    (std::same_as<Converted, no_parameter> ||
     std::same_as<std::remove_cvref_t<Value>, std::remove_cv_t<Converted>> ||
     std::derived_from<std::remove_cvref_t<Value>, std::remove_cv_t<Converted>> ||
     !std::convertible_to<Value, Converted> ||
     (!std::is_scalar_v<Converted> && yields<Promise, const unconverted<Value>&>));

// A last parameter that takes a source_location and nothing else, and whose default says where the coroutine stands.
template <class Promise>
concept returns_object_at = requires(Promise& promise, std::source_location where) {
    promise.get_return_object(where);
} && !requires(Promise& promise, no_parameter other) { promise.get_return_object(other); };

template <class Promise, class Operand>
concept transforms_at = requires(Promise& promise, Operand&& operand, std::source_location where) {
    promise.await_transform(static_cast<Operand&&>(operand), where);
} && !requires(Promise& promise, Operand&& operand, no_parameter other) {
    promise.await_transform(static_cast<Operand&&>(operand), other);
};

/// What await_transform takes, where it is one function.
template <class Promise>
struct transformed {
    using type = no_parameter;
};
template <class Promise>
    requires requires { &Promise::await_transform; }
struct transformed<Promise> {
    using type = typename only_parameter<decltype(&Promise::await_transform)>::type;
};

/// Does await_transform refer to a temporary object, to which the operand is converted? To an rvalue reference to a constant
/// no function converts that gives a reference to what exists.
template <class Promise, class Operand, class Parameter = typename transformed<Promise>::type,
          class Converted = std::remove_cvref_t<Parameter>>
concept converts_operand =
    std::is_reference_v<Parameter> && !std::same_as<std::remove_cvref_t<Operand>, Converted> &&
    !std::derived_from<std::remove_cvref_t<Operand>, Converted> &&
    std::convertible_to<Operand, const Converted&&> && std::convertible_to<Operand, Parameter> &&
    std::convertible_to<Operand, Converted>;

}  // namespace coroscope::detail
