// SPDX-License-Identifier: Apache-2.0
#pragma once

// The declared parameters of a promise's functions. A promise that wraps another promise must know
// a parameter's type for two reasons:
//
// - A braced list (`co_yield {…}`) initialises that type, and never a type that a template deduces.
// - An object that was converted to that type must live until the end of the await expression. A
//   generator keeps the address of the yielded object while it is suspended, and an awaiter keeps
//   the address of its operand.

#include <concepts>
#include <source_location>
#include <type_traits>

namespace coroscope::detail {

struct no_parameter {};

/// The first parameter of a function. A coroutine passes no other.
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
struct only_parameter<Result (Class::*)(Parameter, Defaulted...)&> {
    using type = Parameter;
};
template <class Class, class Result, class Parameter, class... Defaulted>
struct only_parameter<Result (Class::*)(Parameter, Defaulted...) noexcept> {
    using type = Parameter;
};
template <class Class, class Result, class Parameter, class... Defaulted>
struct only_parameter<Result (Class::*)(Parameter, Defaulted...) & noexcept> {
    using type = Parameter;
};
template <class Class, class Result, class Parameter, class... Defaulted>
struct only_parameter<Result (Class::*)(Parameter, Defaulted...) const noexcept> {
    using type = Parameter;
};

// For an overloaded function: a template argument of the promise or of its coroutine type (task<T>)
// that one of the overloads takes without a conversion.
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

/// The first type of the list that `Takes` accepts; else no_parameter.
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

/// Takes the address of a set of functions if exactly one of them has this parameter. It never
/// takes a set that contains a template, so that no template is instantiated.
template <class Parameter>
struct one_function {
    template <class Result, class Class>
    static void with(Result (Class::*)(Parameter));
    template <class Result, class Class>
    static void with(Result (Class::*)(Parameter) const);
    template <class Result, class Class>
    static void with(Result (Class::*)(Parameter) &);
};

// `function`_of<Promise> finds the parameter: that of the only such function, else the guessed
// parameter, else that of a template with its default arguments. A call in a requires-expression
// instantiates the body of a template whose result is deduced. A type that the coroutine does not
// use is therefore passed only in braces, from which no template deduces a type.
#define COROSCOPE_DETAIL_PARAMETER_OF(function)                                                    \
    template <class Promise>                                                                       \
    struct function##_of {                                                                         \
        static constexpr bool single = requires { &Promise::function; };                           \
        template <class Parameter>                                                                 \
        static constexpr bool declares =                                                           \
            requires { one_function<Parameter>::with(&Promise::function); };                       \
        template <class Value>                                                                     \
        static constexpr bool takes_list = requires(Promise& promise, Value&& value) {             \
            promise.function({static_cast<Value&&>(value)});                                       \
        };                                                                                         \
        static constexpr bool takes_empty_list =                                                   \
            requires(Promise& promise) { promise.function({}); };                                  \
        template <class Value, class Parameter>                                                    \
        static constexpr bool has = requires(Promise& promise, Value&& value) {                    \
            static_cast<decltype(promise.function(static_cast<Value&&>(value))) (Promise::*)(      \
                Parameter)>(&Promise::function);                                                   \
        };                                                                                         \
        /* Does no template belong to the functions, and takes one of them a Value as it is? */    \
        template <class Value>                                                                     \
        static constexpr bool without_template =                                                   \
            declares<Value&&> || declares<const std::remove_reference_t<Value>&> ||                \
            declares<std::remove_cvref_t<Value>>;                                                  \
        /* Does a function or a template take a Value that the coroutine has, as it is? */         \
        template <class Value>                                                                     \
        static constexpr bool takes = [] {                                                         \
            if constexpr (has<Value, Value&&>)                                                     \
                return true;                                                                       \
            else if constexpr (has<Value, const std::remove_reference_t<Value>&>)                  \
                return true;                                                                       \
            else                                                                                   \
                return has<Value, std::remove_cvref_t<Value>>;                                     \
        }();                                                                                       \
        template <class Value>                                                                     \
        static constexpr bool one = [] {                                                           \
            if constexpr (without_template<Value>)                                                 \
                return true;                                                                       \
            else if constexpr (takes_list<Value>)                                                  \
                return takes<Value>;                                                               \
            else                                                                                   \
                return false;                                                                      \
        }();                                                                                       \
        static consteval auto declared() {                                                         \
            if constexpr (single) {                                                                \
                return only_parameter<decltype(&Promise::function)>();                             \
            } else if constexpr (requires { &Promise::template function<>; }) {                    \
                return only_parameter<decltype(&Promise::template function<>)>();                  \
            } else {                                                                               \
                return std::type_identity<no_parameter>();                                         \
            }                                                                                      \
        }                                                                                          \
        static consteval auto find() {                                                             \
            if constexpr (single) {                                                                \
                return declared();                                                                 \
            } else {                                                                               \
                using guess = guessed_parameter<function##_of, Promise>;                           \
                if constexpr (!std::is_same_v<typename guess::type, no_parameter>) {               \
                    return guess();                                                                \
                } else {                                                                           \
                    return declared();                                                             \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
COROSCOPE_DETAIL_PARAMETER_OF(return_value);
COROSCOPE_DETAIL_PARAMETER_OF(yield_value);
#undef COROSCOPE_DETAIL_PARAMETER_OF

/// An element that nothing converts to, so an initializer list of it is always empty. For a braced
/// list that may be empty, such a list is the better match.
struct no_element {
    no_element(no_element&) = delete;
};

template <class Promise>
struct returned {
    using type = typename decltype(return_value_of<Promise>::find())::type;
};
/// Our own promises name the type of their result.
template <class Promise>
concept declares_result = requires { typename Promise::coroscope_result; };
template <declares_result Promise>
struct returned<Promise> {
    using type = typename Promise::coroscope_result;
};

/// Whether the call may pass a Value in place of a braced list. If a template is among the
/// functions, the list must stay in braces.
template <class Functions, class Value>
concept without_braces = Functions::template without_template<Value> || Functions::single;

// A last parameter that takes only a source_location, and whose default is the location of the
// coroutine. The test passes it in braces, because a template cannot deduce from them a type for
// which its body may not compile.
template <class Promise>
concept returns_object_at = requires(Promise& promise, std::source_location where) {
    promise.get_return_object({where});
} && !requires(Promise& promise, no_parameter other) { promise.get_return_object({other}); };

template <class Promise, class Operand>
concept transforms_at = requires(Promise& promise, Operand&& operand, std::source_location where) {
    promise.await_transform(static_cast<Operand&&>(operand), {where});
} && !requires(Promise& promise, Operand&& operand, no_parameter other) {
    promise.await_transform(static_cast<Operand&&>(operand), {other});
};

/// The parameter of await_transform, if that is one function.
template <class Promise>
struct transformed {
    using type = no_parameter;
};
template <class Promise>
    requires requires { &Promise::await_transform; }
struct transformed<Promise> {
    using type = typename only_parameter<decltype(&Promise::await_transform)>::type;
};

/// Whether await_transform takes a reference to a temporary object that the operand is converted
/// to. The operand must convert to an rvalue reference to const: a conversion function that returns
/// a reference to an existing object does not.
template <class Promise, class Operand, class Parameter = typename transformed<Promise>::type,
          class Converted = std::remove_cvref_t<Parameter>>
concept converts_operand =
    std::is_reference_v<Parameter> && !std::same_as<std::remove_cvref_t<Operand>, Converted> &&
    !std::derived_from<std::remove_cvref_t<Operand>, Converted> &&
    std::convertible_to<Operand, const Converted&&> && std::convertible_to<Operand, Parameter> &&
    std::convertible_to<Operand, Converted>;

}  // namespace coroscope::detail
