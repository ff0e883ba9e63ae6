// SPDX-License-Identifier: Apache-2.0
#pragma once

// A library whose namespace has a greedy function template for every name that our headers use, and
// operators that no expression of ours may find. The names come from hostile_names.hpp, which
// check_hostile.py writes from the headers.

#include <coroutine>
#include <cstddef>
#include <type_traits>

#include "hostile_names.hpp"

namespace hostile {

/// If argument-dependent lookup finds these, a call does not compile: they match any argument as well as
/// a template of one parameter does.
#define HOSTILE_FUNCTION(name)                                                                     \
    template <class A>                                                                             \
    void name(A&) = delete;                                                                        \
    template <class A>                                                                             \
    void name(A&&) = delete;                                                                       \
    template <class A, class B>                                                                    \
    void name(A&, B&) = delete;                                                                    \
    template <class A, class B>                                                                    \
    void name(A&, B&&) = delete;                                                                   \
    template <class A, class B>                                                                    \
    void name(A&&, B&&) = delete;                                                                  \
    template <class A, class B, class... Rest>                                                     \
    void name(A&&, B&&, Rest&&...) = delete;
HOSTILE_NAMES(HOSTILE_FUNCTION)
#undef HOSTILE_FUNCTION

struct value {
    int number = 1;
};
#if !defined(HOSTILE_FUNCTIONS_ONLY)
// Operators that lookup finds for every type with an argument of this namespace, except for
// promises: libstdc++ takes the address of a promise by operator&.
template <class Any>
    requires(!requires(Any& any) { any.unhandled_exception(); })
void operator&(Any&&) = delete;
template <class Other, class Any>
void operator,(Other&&, Any&&) = delete;
template <class Other, class Any>
void operator&&(Other&&, Any&&) = delete;
template <class Other, class Any>
void operator||(Other&&, Any&&) = delete;
#endif

/// A result of await_ready() that converts to bool.
struct answer : value {
    explicit operator bool() const noexcept { return false; }
};

struct awaiter : value {
    answer await_ready() const noexcept { return {}; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise>) const noexcept {}
    value await_resume() const noexcept { return {}; }
};
/// An awaiter without a value, for a promise's own suspensions: g++ 12 crashes if these have a
/// value.
struct silent_awaiter : awaiter {
    void await_resume() const noexcept {}
};
struct awaiter_of_bool : awaiter {
    bool await_suspend(std::coroutine_handle<>) const noexcept { return false; }
};
struct awaiter_of_handle : awaiter {
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) const noexcept {
        return waiting;
    }
};
struct awaiter_of_rvalue : awaiter {
    value await_resume() && noexcept { return {}; }
};
struct with_member : value {
    awaiter operator co_await() const noexcept { return {}; }
};
struct with_function : value {};
inline awaiter operator co_await(const with_function&) noexcept { return {}; }

}  // namespace hostile
