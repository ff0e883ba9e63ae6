// SPDX-License-Identifier: Apache-2.0
#pragma once

// The instrumentation macros. Each captures its place in the source and calls one function.
//
//   COROSCOPE("label");                        a scope until the end of the block
//   COROSCOPE_FUNCTION();                      the same, named after the function
//   COROSCOPE_ARGS("label", key, size);        the same; arguments are captured if the session asks
//   COROSCOPE_CAT("db", 2, "label");           the same, in a category and at a level (0 to 9)
//   co_await COROSCOPE_AWAIT("label", what);   labels one await
//
// They are statements for block scope (COROSCOPE_AWAIT is an expression). Labels must be string
// literals; record_function.hpp has ranges whose label is made at run time. A line, and so a macro
// of yours, may contain several scopes. A constexpr function cannot contain a scope: C++20 allows
// no static variable there.
//
// With COROSCOPE_ENABLED=0, or if a category or level is compiled out, arguments are still
// type-checked and nothing else remains.

#include <coroscope/config.hpp>
#include <coroscope/detail/literal.hpp>

#define COROSCOPE_DETAIL_JOIN2(a, b) a##b
#define COROSCOPE_DETAIL_JOIN(a, b) COROSCOPE_DETAIL_JOIN2(a, b)

#if COROSCOPE_ENABLED

#include <coroscope/arguments.hpp>
#include <coroscope/await.hpp>
#include <coroscope/detail/arguments_scope.hpp>
#include <coroscope/scope.hpp>

#define COROSCOPE_DETAIL_SITE(name, label, kind, category, level, arguments)                       \
    static constinit ::coroscope::site name {                                                      \
        label, ::std::source_location::current(), ::coroscope::site_kind::kind, category, level,   \
            arguments                                                                              \
    }

// Names with a number of their own let a line contain several scopes. __COUNTER__ differs between
// translation units, so no symbol of the program may have such a name: the site is a static
// variable of a lambda, whose symbol is numbered within its function.
#define COROSCOPE_DETAIL_UNIQUE_SITE(number, label, kind, category, level, arguments)              \
    static constexpr ::coroscope::detail::site_place COROSCOPE_DETAIL_JOIN(coroscope_place_,       \
                                                                           number){label};         \
    [[maybe_unused]] static constexpr auto COROSCOPE_DETAIL_JOIN(coroscope_site_, number) =        \
        []() __attribute__((always_inline)) -> ::coroscope::site& {                                \
        static constinit ::coroscope::site coroscope_site{                                         \
            COROSCOPE_DETAIL_JOIN(coroscope_place_, number), ::coroscope::site_kind::kind,         \
            category, level, arguments};                                                           \
        return coroscope_site;                                                                     \
    }
#define COROSCOPE_DETAIL_SITE_TYPE(number) decltype(COROSCOPE_DETAIL_JOIN(coroscope_site_, number))

#define COROSCOPE_DETAIL_SCOPE(number, label, kind, category, level)                               \
    COROSCOPE_DETAIL_UNIQUE_SITE(number, label, kind, category, level, "");                        \
    [[maybe_unused]] const ::coroscope::detail::selected_scope<                                    \
        ::coroscope::detail::compiled_in(category, level), COROSCOPE_DETAIL_SITE_TYPE(number)>     \
    COROSCOPE_DETAIL_JOIN(coroscope_scope_, number) {}

#define COROSCOPE(label)                                                                           \
    COROSCOPE_DETAIL_NEEDS_LITERAL(label);                                                         \
    COROSCOPE_DETAIL_SCOPE(__COUNTER__, COROSCOPE_DETAIL_LABEL(label), scope, "", 0)
#define COROSCOPE_FUNCTION() COROSCOPE_DETAIL_SCOPE(__COUNTER__, __func__, function, "", 0)
#define COROSCOPE_CAT(category, level, label)                                                      \
    COROSCOPE_DETAIL_NEEDS_LITERAL(label);                                                         \
    COROSCOPE_DETAIL_SCOPE(__COUNTER__, COROSCOPE_DETAIL_LABEL(label), scope, category, level)

// A conditional expression, so that arguments are not evaluated if the scope is compiled out.
#define COROSCOPE_DETAIL_ARGUMENTS(in, site, ...)                                                  \
    ::std::bool_constant<in>::value ? ::coroscope::detail::arguments_scope<in, site>(__VA_ARGS__)  \
                                    : ::coroscope::detail::arguments_scope<in, site>::none()
#define COROSCOPE_DETAIL_ARGS(number, label, names, ...)                                           \
    COROSCOPE_DETAIL_UNIQUE_SITE(number, label, scope, "", 0, names);                              \
    [[maybe_unused]] const auto COROSCOPE_DETAIL_JOIN(coroscope_scope_, number) =                  \
        COROSCOPE_DETAIL_ARGUMENTS((::coroscope::detail::compiled_in("", 0)),                      \
                                   COROSCOPE_DETAIL_SITE_TYPE(number), __VA_ARGS__)
#define COROSCOPE_ARGS(label, ...)                                                                 \
    COROSCOPE_DETAIL_NEEDS_LITERAL(label);                                                         \
    COROSCOPE_DETAIL_ARGS(__COUNTER__, COROSCOPE_DETAIL_LABEL(label), #__VA_ARGS__, __VA_ARGS__)

// A statement expression, because a lambda in an await expression runs into defects of g++ 12.
#define COROSCOPE_AWAIT(label, ...)                                                                \
    (::coroscope::label_await(::coroscope::await_label(*__extension__({                            \
                                  COROSCOPE_DETAIL_NEEDS_LITERAL(label);                           \
                                  static constinit ::coroscope::site coroscope_site{               \
                                      COROSCOPE_DETAIL_LABEL(label),                               \
                                      ::std::source_location::current(),                           \
                                      ::coroscope::site_kind::await};                              \
                                  __builtin_addressof(coroscope_site);                             \
                              })),                                                                 \
                              __VA_ARGS__))

#else

// Type-checks its arguments and leaves no instruction and no byte of a coroutine's frame.
#define COROSCOPE_DETAIL_CHECK(...)                                                                \
    if constexpr (false) {                                                                         \
        ::coroscope::detail::ignore(__VA_ARGS__);                                                  \
    }                                                                                              \
    static_assert(true)

#define COROSCOPE(label) COROSCOPE_DETAIL_NEEDS_LITERAL(label)
#define COROSCOPE_FUNCTION() static_assert(true)
#define COROSCOPE_CAT(category, level, label)                                                      \
    COROSCOPE_DETAIL_NEEDS_LITERAL(label);                                                         \
    static_assert((level) >= 0, category)
#define COROSCOPE_ARGS(label, ...)                                                                 \
    COROSCOPE_DETAIL_NEEDS_LITERAL(label);                                                         \
    COROSCOPE_DETAIL_CHECK(__VA_ARGS__)
#define COROSCOPE_AWAIT(label, ...) (__VA_ARGS__)

namespace coroscope::detail {
template <class... Arguments>
void ignore(const Arguments&...) noexcept;
}

#endif
