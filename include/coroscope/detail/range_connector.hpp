// SPDX-License-Identifier: Apache-2.0
#pragma once

// Connects the inner sender of a sender whose operations are ranges, and selects the tag_invoke
// calls of a library that are passed on to it.

#include <type_traits>

#include <coroscope/config.hpp>
#include <coroscope/detail/range_operation.hpp>
#include <coroscope/detail/sender_calls.hpp>
#include <coroscope/detail/sender_library.hpp>

namespace coroscope::detail {

/// The default of traced(): calls the functions that the sender's library calls, if those can be
/// found.
struct library_as_found {};

template <class Receiver>
consteval auto environment_of() {
    if constexpr (std::is_invocable_v<sender_calls::member_get_env, const Receiver&>) {
        using found = std::invoke_result_t<sender_calls::member_get_env, const Receiver&>;
        return std::type_identity<std::remove_cvref_t<found>>();
    } else {
        return std::type_identity<no_environment>();
    }
}

template <class Given>
concept names_library = requires {
    Given::connect;
    Given::start;
    Given::set_value;
};

inline namespace COROSCOPE_ABI {

template <class Sender, class Receiver>
consteval auto find_calls() {
    using as_member = range_receiver<Receiver, member_calls>;
    using as_free = range_receiver<Receiver, free_calls>;
    using environment = typename decltype(detail::environment_of<Receiver>())::type;
    if constexpr (detail::is_of_tag_invoke_library<std::remove_cvref_t<Sender>, environment>()) {
        return std::type_identity<void>();  // traced() must ask tag_invoke
    } else if constexpr (std::is_invocable_v<sender_calls::member_connect, Sender, as_member>) {
        return std::type_identity<member_calls>();
    } else if constexpr (std::is_invocable_v<sender_calls::free_connect, Sender, as_free>) {
        using made = std::invoke_result_t<sender_calls::free_connect, Sender, as_free>;
        // Any function may be named `connect`. This one returns an object that can be started.
        constexpr bool is_operation = std::is_invocable_v<free_calls::start, made&>;
        return std::type_identity<std::conditional_t<is_operation, free_calls, void>>();
    } else {
        return std::type_identity<void>();
    }
}

/// The third argument of traced() selects the functions to call. If it is absent, this header finds
/// them.
template <class Given>
struct calls_for {
    template <class Sender, class Receiver>
    using type = connect_calls<Given>;
};
template <names_library Given>
struct calls_for<Given> {
    template <class Sender, class Receiver>
    using type = library_calls<Given>;
};
template <>
struct calls_for<library_as_found> {
    template <class Sender, class Receiver>
    using type = typename decltype(detail::find_calls<Sender, Receiver>())::type;
};

/// Whether `Tag`, the first argument of a tag_invoke, connects senders to receivers.
template <class Tag, class Sender, class Receiver>
concept library_connect =
    is_receiver<Receiver> &&
    std::is_invocable_v<Tag, Sender, range_receiver<Receiver, member_calls>> &&
    std::is_class_v<std::invoke_result_t<Tag, Sender, range_receiver<Receiver, member_calls>>> &&
    !says_it_is_sender<std::invoke_result_t<Tag, Sender, range_receiver<Receiver, member_calls>>>;

/// Whether `Tag` is a query of a sender, whose only further argument may be an environment.
/// Algorithms are no queries: they return senders or may throw, and must receive the sender with
/// its range.
template <class Tag, class Sender, class... Environment>
concept library_query =
    sizeof...(Environment) <= 1 && (!is_receiver<std::remove_cvref_t<Environment>> && ...) &&
    std::is_nothrow_invocable_v<Tag, Sender, Environment...> &&
    !std::is_void_v<std::invoke_result_t<Tag, Sender, Environment...>> &&
    !is_sender<std::remove_cvref_t<std::invoke_result_t<Tag, Sender, Environment...>>>;

}  // namespace COROSCOPE_ABI
}  // namespace coroscope::detail
