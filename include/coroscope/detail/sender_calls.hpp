// SPDX-License-Identifier: Apache-2.0
#pragma once

// The calls of the sender protocol as function objects: one calls a member, the other a function
// that argument-dependent lookup finds. A function object can be called exactly if the call in it
// compiles, and is noexcept if that call is. std::is_invocable and std::is_nothrow_invocable test
// both.

#include <type_traits>

namespace coroscope::detail {

// These declarations keep functions of these names in the enclosing namespaces out of the lookup,
// so only argument-dependent lookup finds candidates.
namespace sender_calls {
void connect() = delete;
void start() = delete;
void set_value() = delete;
void set_error() = delete;
void set_stopped() = delete;

#define COROSCOPE_DETAIL_MEMBER_CALL(name)                                                         \
    struct member_##name {                                                                         \
        template <class Object, class... Arguments>                                                \
        auto operator()(Object&& object, Arguments&&... arguments) const noexcept(                 \
            noexcept(static_cast<Object&&>(object).name(static_cast<Arguments&&>(arguments)...)))  \
            -> decltype(static_cast<Object&&>(object).name(                                        \
                static_cast<Arguments&&>(arguments)...)) {                                         \
            return static_cast<Object&&>(object).name(static_cast<Arguments&&>(arguments)...);     \
        }                                                                                          \
    };
#define COROSCOPE_DETAIL_FREE_CALL(name)                                                           \
    struct free_##name {                                                                           \
        template <class Object, class... Arguments>                                                \
        auto operator()(Object&& object, Arguments&&... arguments) const                           \
            noexcept(noexcept(name(static_cast<Object&&>(object),                                  \
                                   static_cast<Arguments&&>(arguments)...)))                       \
                -> decltype(name(static_cast<Object&&>(object),                                    \
                                 static_cast<Arguments&&>(arguments)...)) {                        \
            return name(static_cast<Object&&>(object), static_cast<Arguments&&>(arguments)...);    \
        }                                                                                          \
    };
COROSCOPE_DETAIL_MEMBER_CALL(connect)
COROSCOPE_DETAIL_MEMBER_CALL(start)
COROSCOPE_DETAIL_MEMBER_CALL(set_value)
COROSCOPE_DETAIL_MEMBER_CALL(set_error)
COROSCOPE_DETAIL_MEMBER_CALL(set_stopped)
COROSCOPE_DETAIL_MEMBER_CALL(set_done)
COROSCOPE_DETAIL_MEMBER_CALL(set_next)
COROSCOPE_DETAIL_MEMBER_CALL(get_env)
COROSCOPE_DETAIL_FREE_CALL(connect)
COROSCOPE_DETAIL_FREE_CALL(start)
COROSCOPE_DETAIL_FREE_CALL(set_value)
COROSCOPE_DETAIL_FREE_CALL(set_error)
COROSCOPE_DETAIL_FREE_CALL(set_stopped)
#undef COROSCOPE_DETAIL_MEMBER_CALL
#undef COROSCOPE_DETAIL_FREE_CALL

/// Calls the member, or the function if the member cannot be called.
template <class Member, class Free>
struct either {
    template <class... Arguments>
    using choice = std::conditional_t<std::is_invocable_v<Member, Arguments...>, Member, Free>;
    template <class... Arguments>
        requires std::is_invocable_v<choice<Arguments...>, Arguments...>
    decltype(auto) operator()(Arguments&&... arguments) const
        noexcept(std::is_nothrow_invocable_v<choice<Arguments...>, Arguments...>) {
        return choice<Arguments...>()(static_cast<Arguments&&>(arguments)...);
    }
};

}  // namespace sender_calls

/// The function objects through which we call a sender, its operation and its receiver. Here:
/// members.
struct member_calls {
    using connect = sender_calls::member_connect;
    using start = sender_calls::member_start;
    using set_value = sender_calls::member_set_value;
    using set_error = sender_calls::member_set_error;
    using set_stopped = sender_calls::member_set_stopped;
    using get_env = sender_calls::member_get_env;
};
/// Members, except for `connect`.
template <class Connect>
struct connect_calls : member_calls {
    using connect = Connect;
};
/// connect is the free function and get_env the member. The others are the member if it can be
/// called, else the free function.
struct free_calls {
    using connect = sender_calls::free_connect;
    using start = sender_calls::either<sender_calls::member_start, sender_calls::free_start>;
    using set_value =
        sender_calls::either<sender_calls::member_set_value, sender_calls::free_set_value>;
    using set_error =
        sender_calls::either<sender_calls::member_set_error, sender_calls::free_set_error>;
    using set_stopped =
        sender_calls::either<sender_calls::member_set_stopped, sender_calls::free_set_stopped>;
    using get_env = sender_calls::member_get_env;
};
/// The function objects of a library that COROSCOPE_SENDER_LIBRARY named.
template <class Library>
struct library_calls {
    using connect = std::remove_cvref_t<decltype(Library::connect)>;
    using start = std::remove_cvref_t<decltype(Library::start)>;
    using set_value = std::remove_cvref_t<decltype(Library::set_value)>;
    using set_error = std::remove_cvref_t<decltype(Library::set_error)>;
    using set_stopped = std::remove_cvref_t<decltype(Library::set_stopped)>;
    using get_env = std::remove_cvref_t<decltype(Library::get_env)>;
};

// A class that derives from pass_on_NAME<Of> has the nested type NAME of `Of`, if `Of` has it.
#define COROSCOPE_DETAIL_PASS_ON(name)                                                             \
    template <class Of>                                                                            \
    struct pass_on_##name {};                                                                      \
    template <class Of>                                                                            \
        requires requires { typename Of::name; }                                                   \
    struct pass_on_##name<Of> {                                                                    \
        using name = typename Of::name;                                                            \
    };
COROSCOPE_DETAIL_PASS_ON(sender_concept)
COROSCOPE_DETAIL_PASS_ON(receiver_concept)
COROSCOPE_DETAIL_PASS_ON(operation_state_concept)
COROSCOPE_DETAIL_PASS_ON(completion_signatures)
// The names of two of the concepts in older libraries.
COROSCOPE_DETAIL_PASS_ON(is_sender)
COROSCOPE_DETAIL_PASS_ON(is_receiver)
#undef COROSCOPE_DETAIL_PASS_ON

/// `Type` with the const and the reference of `Like`.
template <class Like, class Type>
struct category {
    using type = Type;
};
template <class Like, class Type>
struct category<const Like, Type> {
    using type = const Type;
};
template <class Like, class Type>
struct category<Like&, Type> {
    using type = typename category<Like, Type>::type&;
};
template <class Like, class Type>
struct category<Like&&, Type> : category<Like, Type> {};
template <class Like, class Type>
using with_category_of = typename category<Like, Type>::type;

/// A template argument for a test of whether a type has a certain member template.
template <class...>
struct any_types {};

/// The nested templates and constants that libunifex's senders have instead of signatures.
template <class Of>
concept has_value_types = requires {
    typename Of::template value_types<any_types, any_types>;
    typename Of::template error_types<any_types>;
};

template <class Of>
struct pass_on_value_types {};
template <has_value_types Of>
struct pass_on_value_types<Of> {
    template <template <class...> class Variant, template <class...> class Tuple>
    using value_types = typename Of::template value_types<Variant, Tuple>;
    template <template <class...> class Variant>
    using error_types = typename Of::template error_types<Variant>;
    static constexpr bool sends_done = Of::sends_done;
};

/// The same for next_types, which libunifex's senders with stepwise values have.
template <class Of>
struct pass_on_next_types {};
template <class Of>
    requires requires { typename Of::template next_types<any_types, any_types>; }
struct pass_on_next_types<Of> {
    template <template <class...> class Variant, template <class...> class Tuple>
    using next_types = typename Of::template next_types<Variant, Tuple>;
};

#define COROSCOPE_DETAIL_PASS_ON_CONSTANT(name)                                                    \
    template <class Of>                                                                            \
    struct pass_on_##name {};                                                                      \
    template <class Of>                                                                            \
        requires requires { Of::name; }                                                            \
    struct pass_on_##name<Of> {                                                                    \
        static constexpr auto name = Of::name;                                                     \
    };
COROSCOPE_DETAIL_PASS_ON_CONSTANT(blocking)
COROSCOPE_DETAIL_PASS_ON_CONSTANT(is_always_scheduler_affine)
#undef COROSCOPE_DETAIL_PASS_ON_CONSTANT

}  // namespace coroscope::detail
