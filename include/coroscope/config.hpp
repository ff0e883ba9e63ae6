// SPDX-License-Identifier: Apache-2.0
#pragma once

// The options of a build, and the constants that follow from them.
//
//   COROSCOPE_ENABLED     1 (default) or 0: with 0 the macros leave no instruction and no byte, and
//                         sessions are `disabled`. Scopes, tasks, sessions, attributes, requests
//                         and record_function then need no library (docs/decisions/0065).
//   COROSCOPE_MAX_LEVEL   scopes above this level are compiled out (default 9, the highest;
//                         -1: all).
//   COROSCOPE_CATEGORIES  the categories that are compiled in: "*" (default), "net,db" (only
//                         these) or "*,-cache" (all but these). Unnamed scopes have category "".
//   COROSCOPE_FIBERS      1: thread-locals are read out of line. Needed if fibers change threads
//                         inside functions with scopes, because the compiler may keep the address
//                         of a thread-local across a call. Default: 0, which is right for g++ and
//                         for clang from 19 on (docs/decisions/0008 has the reason), and 1 under a
//                         sanitizer.

#include <coroscope/detail/supported.hpp>

#ifndef COROSCOPE_ENABLED
#define COROSCOPE_ENABLED 1
#endif

#ifndef COROSCOPE_MAX_LEVEL
#define COROSCOPE_MAX_LEVEL 9
#endif

#ifndef COROSCOPE_CATEGORIES
#define COROSCOPE_CATEGORIES "*"
#endif

#ifndef COROSCOPE_FIBERS
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define COROSCOPE_FIBERS 1  // a sanitizer takes the addresses of thread-locals
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define COROSCOPE_FIBERS 1
#endif
#endif
#endif
#if !defined(COROSCOPE_FIBERS) && defined(__clang__) && !defined(__x86_64__)
#if __clang_major__ < 19
#define COROSCOPE_FIBERS 1  // coroutines need it there, too: detail/thread_state.hpp
#endif
#endif
#ifndef COROSCOPE_FIBERS
#define COROSCOPE_FIBERS 0
#endif

// Types whose layout depends on COROSCOPE_ENABLED are in an inline namespace of their own.
// Translation units that were built differently therefore never share a type with different
// layouts.
#if COROSCOPE_ENABLED
#define COROSCOPE_ABI enabled
#else
#define COROSCOPE_ABI disabled
#endif

namespace coroscope::detail {

// Compares a name with one entry of a category list: returns whether `name` equals list[begin,
// end).
constexpr bool entry_is(const char* list, unsigned begin, unsigned end, const char* name) noexcept {
    unsigned at = begin;
    while (at < end && *name != '\0' && list[at] == *name) {
        ++at;
        ++name;
    }
    return at == end && *name == '\0';
}

/// Returns whether `list`, from COROSCOPE_CATEGORIES, contains this category. The last matching
/// entry decides.
constexpr bool category_enabled(const char* list, const char* name) noexcept {
    bool enabled = false;
    unsigned begin = 0;
    for (unsigned at = 0;; ++at) {
        if (list[at] != ',' && list[at] != '\0') continue;
        const bool negative = list[begin] == '-';
        if (detail::entry_is(list, begin, at, "*")) enabled = true;
        if (detail::entry_is(list, begin + (negative ? 1U : 0U), at, name)) enabled = !negative;
        if (list[at] == '\0') return enabled;
        begin = at + 1;
    }
}

/// Returns whether a scope of this category and level is compiled in.
constexpr bool compiled_in(const char* category, int level) noexcept {
    return COROSCOPE_ENABLED != 0 && level <= COROSCOPE_MAX_LEVEL &&
           detail::category_enabled(COROSCOPE_CATEGORIES, category);
}

}  // namespace coroscope::detail
