// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the functions yield_value of a promise take, and the type to which an operand or a braced
// list is converted for them.
//
// A generator often has one overload that copies a constant object and deduces its result:
//
//   auto yield_value(const Value& value) requires …
//
// Its body is ill-formed for a value that cannot be copied, and is never used then. A compiler that
// takes the address of such a set instantiates the body. The functions are therefore compared with
// one that is added to them in a derived class. Overload resolution instantiates no body, unless it
// selects a function whose result is deduced.

#include <concepts>
#include <type_traits>

#include <coroscope/detail/promise_parameters.hpp>

namespace coroscope::detail {

/// The result of an added function.
struct added {};

template <class Promise, class Parameter>
struct with_yield_value : Promise {
    using Promise::yield_value;
    added yield_value(Parameter);
    added yield_value(Parameter) const;
};

/// An argument: a new object, or a reference.
template <class Value>
Value given() noexcept;

/// Another function is as good a match for a Value as the added one. No template is.
template <class Extended, class Value>
concept ambiguous_yield =
    !requires(Extended& promise) { promise.yield_value(detail::given<Value>()); };

template <class Promise, class Parameter, class Value>
inline constexpr bool as_good_as_added =
    ambiguous_yield<with_yield_value<Promise, Parameter>, Value> ||
    ambiguous_yield<const with_yield_value<Promise, Parameter>, Value>;

template <class Value>
concept passed_by_value = std::is_object_v<Value> && !std::is_array_v<Value> &&
                          !std::is_abstract_v<Value> && !std::same_as<Value, no_parameter>;

/// A class to whose functions one can be added: a final class has no derived ones, the added
/// function may not override a virtual one, and a callable object is no function.
template <class Promise>
concept extensible =
    std::is_class_v<Promise> && !std::is_final_v<Promise> && !std::is_polymorphic_v<Promise> &&
    !requires(Promise& promise) { typename std::type_identity<decltype(promise.yield_value)>; };

/// Replaces a Value and uses up the one user-defined conversion. A function that accepts it takes a
/// Value without a conversion, or takes any type.
template <class Value>
struct unconverted {
    operator Value&&() const noexcept;  // NOLINT(google-explicit-constructor)
};

/// Whether an overload takes a Value without a conversion, or a template takes any type. A template
/// is asked only about the Value itself.
template <class Promise, class Value, class Converted>
inline constexpr bool unconverted_by_address = [] {
    using functions = yield_value_of<Promise>;
    if constexpr (std::is_scalar_v<Converted>) {
        return false;
    } else if constexpr (functions::template without_template<Converted>) {
        return requires(Promise& promise, const unconverted<Value>& value) {
            promise.yield_value(value);
        };
    } else {
        return functions::template takes<Value>;
    }
}();

/// The functions yield_value of a promise that cannot be extended.
template <class Promise>
struct yield_functions : yield_value_of<Promise> {
    template <class>
    static constexpr bool takes_object = false;
    template <class>
    static constexpr bool takes_constant = false;

    template <class Value, class Converted>
    static constexpr bool takes_unconverted = unconverted_by_address<Promise, Value, Converted>;
};

template <extensible Promise>
struct yield_functions<Promise> {
    using by_address = yield_value_of<Promise>;

    static constexpr bool takes_empty_list = by_address::takes_empty_list;
    template <class Value>
    static constexpr bool takes_list = by_address::template takes_list<Value>;

    /// A function whose parameter is an object.
    template <class Value>
    static constexpr bool takes_value = as_good_as_added<Promise, Value&&, Value>;

    /// A function that is no template, and whose parameter is such an object, or a reference to an
    /// rvalue, or a constant one.
    template <class Value>
    static constexpr bool takes_object = [] {
        if constexpr (!passed_by_value<Value>) {
            return false;
        } else if constexpr (!takes_list<Value>) {
            return false;
        } else {
            return takes_value<Value> || as_good_as_added<Promise, Value, Value>;
        }
    }();

    /// Such a function also takes a constant object.
    template <class Value>
    static constexpr bool takes_constant = [] {
        if constexpr (!takes_object<Value>) {
            return false;
        } else if constexpr (!std::is_copy_constructible_v<Value>) {
            return false;
        } else {
            return takes_value<Value> || as_good_as_added<Promise, Value, const Value&>;
        }
    }();

    /// Such a function takes an rvalue, and a template would not be a better match for it.
    template <class Value>
    static constexpr bool takes_rvalue = [] {
        if constexpr (!takes_constant<Value>) {
            return takes_object<Value>;
        } else if constexpr (takes_value<Value>) {
            return true;
        } else {
            return requires(with_yield_value<Promise, const Value&>& promise) {
                requires !std::same_as<decltype(promise.yield_value({detail::given<Value>()})),
                                       added>;
            };
        }
    }();

    template <class Value>
    static constexpr bool without_template = [] {
        using object = std::remove_cvref_t<Value>;
        if constexpr (!passed_by_value<object>) {
            return by_address::template without_template<Value>;
        } else if constexpr (std::is_lvalue_reference_v<Value>) {
            return takes_constant<object>;
        } else {
            return takes_rvalue<object>;
        }
    }();

    /// A function other than that for the Converted, or a template, is the best match for a Value.
    template <class Value, class Converted>
    static constexpr bool takes_unconverted = [] {
        if constexpr (passed_by_value<std::remove_cv_t<Converted>>) {
            using extended = with_yield_value<Promise, std::remove_cv_t<Converted>>;
            return requires(extended& promise, Value&& value) {
                requires !std::same_as<decltype(promise.yield_value(static_cast<Value&&>(value))),
                                       added>;
            };
        } else {
            return unconverted_by_address<Promise, Value, Converted>;
        }
    }();

    static constexpr bool single = by_address::single;
    template <class Value>
    static constexpr bool one = [] {
        if constexpr (passed_by_value<std::remove_cv_t<Value>>) {
            return takes_object<std::remove_cv_t<Value>>;
        } else {
            return by_address::template one<Value>;
        }
    }();

    static consteval auto find() {
        using guess = guessed_parameter<yield_functions, Promise>;
        if constexpr (!std::is_same_v<typename guess::type, no_parameter>) {
            return std::remove_cv<typename guess::type>();
        } else {
            return by_address::declared();
        }
    }
};

/// The type to which yield_value converts, without a reference.
template <class Promise>
using yielded = std::remove_reference_t<typename decltype(yield_functions<Promise>::find())::type>;

template <class Promise, class Value>
concept yields =
    requires(Promise& promise, Value&& value) { promise.yield_value(static_cast<Value&&>(value)); };

/// Whether yield_value takes a Value without a conversion. If not, the converted object must live
/// as long as the suspension.
template <class Promise, class Value, class Converted = yielded<Promise>>
concept yields_as_it_is =
    yields<Promise, Value> &&
    (std::same_as<Converted, no_parameter> ||
     std::same_as<std::remove_cvref_t<Value>, std::remove_cv_t<Converted>> ||
     std::derived_from<std::remove_cvref_t<Value>, std::remove_cv_t<Converted>> ||
     !std::convertible_to<Value, Converted> ||
     yield_functions<Promise>::template takes_unconverted<Value, Converted>);

/// Whether a braced list, or an operand that needs a conversion, becomes this type for yield_value.
template <class Promise, class Converted, class Functions = yield_functions<Promise>,
          class Value = std::remove_cvref_t<Converted>>
concept yields_converted =
    !std::same_as<Value, no_parameter> &&
    ((Functions::template takes_object<Value> &&
      (!std::is_lvalue_reference_v<Converted> || Functions::template takes_constant<Value>)) ||
     (!Functions::template takes_object<Value> &&
      ((without_braces<Functions, Converted> && yields<Promise, Converted>) ||
       (!without_braces<Functions, Converted> && Functions::template takes_list<Converted>))));

}  // namespace coroscope::detail
