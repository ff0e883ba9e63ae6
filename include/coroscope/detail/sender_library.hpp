// SPDX-License-Identifier: Apache-2.0
#pragma once

// Facts about the library of a sender, found without including it: whether a type is a sender, its
// signatures, and whether the library calls customisations by tag_invoke.
//
// The last fact decides how a wrapped sender must be connected. A library's connect() may do more
// than call the sender's member: connect() of stdexec replaces the sender by another one that the
// scheduler's domain returns. We cannot name that connect(). But a library that calls
// tag_invoke(connect, sender, receiver) passes it to us as the first argument.

#include <type_traits>

#include <coroscope/detail/awaiter.hpp>
#include <coroscope/detail/sender_calls.hpp>

namespace coroscope {
namespace detail {

/// An environment without queries.
struct no_environment {};

template <class Type>
concept has_static_signatures = requires {
    Type::template get_completion_signatures<Type>();
} || requires { Type::template get_completion_signatures<Type, no_environment>(); };

template <class Type>
concept has_signature_member = requires(Type& object) {
    object.get_completion_signatures(no_environment());
} || requires(Type& object) { object.get_completion_signatures(); };

/// A class called completion_signatures has its own name as a member. That member does not count.
template <class Type>
concept has_nested_signatures = requires { typename Type::completion_signatures; } &&
                                !std::is_same_v<typename Type::completion_signatures, Type>;

template <class Type>
concept says_it_is_sender =
    requires { typename Type::sender_concept; } || requires { typename Type::is_sender; } ||
    has_nested_signatures<Type> || has_static_signatures<Type> || has_signature_member<Type> ||
    has_value_types<Type>;

template <class Type>
concept known_as_sender =
    says_it_is_sender<Type> || is_awaitable<Type> || requires { typename Type::promise_type; };

/// An awaitable that is not a sender. A library connects a type that is both as a sender.
template <class Type, class Operand>
concept only_awaitable = is_awaitable<Operand> && !says_it_is_sender<Type>;

}  // namespace detail

/// Whether this type is a sender, by its members. An awaitable is a sender if it has an awaiter or
/// is a coroutine's return type: its library may allow only certain coroutines to await it. You may
/// specialise this for other types.
template <class Type>
inline constexpr bool is_sender = detail::known_as_sender<Type>;

namespace detail {

/// Whether a sender can be connected to an object of this type.
template <class Type>
concept is_receiver =
    requires { typename Type::receiver_concept; } || requires { typename Type::is_receiver; } ||
    std::is_invocable_v<sender_calls::member_set_stopped, Type> ||
    std::is_invocable_v<sender_calls::member_set_done, Type>;

/// A receiver that only tag_invoke(Tag(), receiver, …) can complete.
template <class Tag>
struct tag_only_receiver {
    template <class... Values>
    friend void tag_invoke(Tag, tag_only_receiver&&, Values&&...) noexcept {}
};

template <class Signature>
inline constexpr bool is_signature = false;
template <class Tag, class... Arguments>
inline constexpr bool is_signature<Tag(Arguments...)> = true;

/// Whether this signature's library calls completions by tag_invoke.
template <class Signature>
inline constexpr bool tag_invokes = false;
template <class Tag, class... Arguments>
inline constexpr bool tag_invokes<Tag(Arguments...)> =
    std::is_invocable_v<Tag, tag_only_receiver<Tag>, Arguments...>;

/// The result type of get_completion_signatures, or a nested completion_signatures.
template <class Found>
struct signatures_found {
    static constexpr bool none = false;
    /// Only stdexec returns another type, if the signatures depend on the environment, and stdexec
    /// calls tag_invoke. Libraries with C++26's exceptions in constant expressions throw instead.
    static constexpr bool by_tag_invoke = true;
};
template <template <class...> class List, class... Signatures>
    requires(is_signature<Signatures> && ...)
struct signatures_found<List<Signatures...>> {
    static constexpr bool none = sizeof...(Signatures) == 0;
    static constexpr bool by_tag_invoke = (tag_invokes<Signatures> || ...);
};

template <class Sender, class... Environment>
concept static_signatures_of = requires {
    std::remove_cvref_t<Sender>::template get_completion_signatures<Sender, Environment...>();
};
template <class Sender, class... Environment>
using static_signatures =
    signatures_found<decltype(std::remove_cvref_t<Sender>::template get_completion_signatures<
                              Sender, Environment...>())>;

template <class Sender, class... Environment>
concept member_signatures_of = requires(Sender&& sender, Environment&&... environment) {
    static_cast<Sender&&>(sender).get_completion_signatures(
        static_cast<Environment&&>(environment)...);
};
template <class Sender, class... Environment>
using member_signatures =
    signatures_found<decltype(std::declval<Sender>().get_completion_signatures(
        std::declval<Environment>()...))>;

template <class Sender>
concept depends_on_environment = [] {
    if constexpr (static_signatures_of<Sender>) return static_signatures<Sender>::none;
    return true;
}();

/// Whether the library of this sender calls customisations by tag_invoke. True only if the sender's
/// signatures prove it. First we ask for the signatures without the environment: senders of stdexec
/// that its connect() replaces do not compile with one.
template <class Sender, class... Environment>
consteval bool is_of_tag_invoke_library() {
    if constexpr (has_nested_signatures<Sender>) {
        return signatures_found<typename Sender::completion_signatures>::by_tag_invoke;
    } else if constexpr (!depends_on_environment<Sender>) {
        return static_signatures<Sender>::by_tag_invoke;
    } else if constexpr (static_signatures_of<Sender, Environment...>) {
        return static_signatures<Sender, Environment...>::by_tag_invoke;
    } else if constexpr (member_signatures_of<Sender, Environment...>) {
        return member_signatures<Sender, Environment...>::by_tag_invoke;
    } else if constexpr (member_signatures_of<Sender>) {
        return member_signatures<Sender>::by_tag_invoke;
    } else {
        return false;
    }
}

}  // namespace detail
}  // namespace coroscope
