// SPDX-License-Identifier: Apache-2.0
#pragma once

// The instrumentation macros. Each captures the place where it stands and calls one function.
//
//   COROSCOPE("label");                        a scope until the end of the block
//   COROSCOPE_FUNCTION();                      the same, named after the function
//   COROSCOPE_ARGS("label", key, size);        the same; arguments are captured if the session asks
//   COROSCOPE_CAT("db", 2, "label");           the same, in a category and at a level (0 to 9)
//   co_await COROSCOPE_AWAIT("label", what);   labels one await
//
// They are statements (COROSCOPE_AWAIT is an expression) for block scope; labels are string literals.
// A block has one scope per source line at most: their variables are named after it, which is the same in every
// translation unit. A macro that expands to two of them is on one line, too.
// A scope cannot stand in a constexpr function: C++20 allows no static variable there.
// With COROSCOPE_ENABLED=0, and where a category or level is compiled out, arguments are still
// type-checked and nothing else remains.

#include <coroscope/config.hpp>

#define COROSCOPE_DETAIL_JOIN2(a, b) a##b
#define COROSCOPE_DETAIL_JOIN(a, b) COROSCOPE_DETAIL_JOIN2(a, b)
#define COROSCOPE_DETAIL_UNIQUE(name) COROSCOPE_DETAIL_JOIN(coroscope_##name##_, __LINE__)

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

#define COROSCOPE_DETAIL_SCOPE(label, kind, category, level)                                       \
    COROSCOPE_DETAIL_SITE(COROSCOPE_DETAIL_UNIQUE(site), label, kind, category, level, "");        \
    [[maybe_unused]] const ::coroscope::detail::selected_scope<                                    \
        ::coroscope::detail::compiled_in(category, level), COROSCOPE_DETAIL_UNIQUE(site)>          \
    COROSCOPE_DETAIL_UNIQUE(scope) {}

#define COROSCOPE(label) COROSCOPE_DETAIL_SCOPE("" label, scope, "", 0)
#define COROSCOPE_FUNCTION() COROSCOPE_DETAIL_SCOPE(__func__, function, "", 0)
#define COROSCOPE_CAT(category, level, label)                                                      \
    COROSCOPE_DETAIL_SCOPE("" label, scope, category, level)

// A conditional expression, so that arguments are not evaluated where the scope is compiled out.
#define COROSCOPE_DETAIL_ARGUMENTS(in, site, ...)                                                  \
    ::std::bool_constant<in>::value ? ::coroscope::detail::arguments_scope<in, site>(__VA_ARGS__)  \
                                    : ::coroscope::detail::arguments_scope<in, site>::none()
#define COROSCOPE_ARGS(label, ...)                                                                 \
    COROSCOPE_DETAIL_SITE(COROSCOPE_DETAIL_UNIQUE(site), "" label, scope, "", 0, #__VA_ARGS__);    \
    [[maybe_unused]] const auto COROSCOPE_DETAIL_UNIQUE(scope) = COROSCOPE_DETAIL_ARGUMENTS(       \
        (::coroscope::detail::compiled_in("", 0)), COROSCOPE_DETAIL_UNIQUE(site), __VA_ARGS__)

// A statement expression, because a lambda in an await expression runs into defects of g++ 12.
#define COROSCOPE_AWAIT(label, ...)                                                                \
    (::coroscope::label_await(::coroscope::await_label(*__extension__({                            \
                                  static constinit ::coroscope::site coroscope_site{               \
                                      "" label, ::std::source_location::current(),                 \
                                      ::coroscope::site_kind::await};                              \
                                  &coroscope_site;                                                 \
                              })),                                                                 \
                              __VA_ARGS__))

#else

// Type-checks its arguments and leaves no instruction and no byte of a coroutine's frame.
#define COROSCOPE_DETAIL_CHECK(...)                                                                \
    if constexpr (false) {                                                                         \
        ::coroscope::detail::ignore(__VA_ARGS__);                                                  \
    }                                                                                              \
    static_assert(true)

#define COROSCOPE(label) static_assert(true, "" label)
#define COROSCOPE_FUNCTION() static_assert(true)
#define COROSCOPE_CAT(category, level, label) static_assert((level) >= 0, "" label)
#define COROSCOPE_ARGS(label, ...) COROSCOPE_DETAIL_CHECK(__VA_ARGS__)
#define COROSCOPE_AWAIT(label, ...) (__VA_ARGS__)

namespace coroscope::detail {
template <class... Arguments>
void ignore(const Arguments&...) noexcept;
}

#endif
