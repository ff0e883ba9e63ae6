// SPDX-License-Identifier: Apache-2.0
#pragma once

// The switches that a build sets, and what follows from them.
//
//   COROSCOPE_ENABLED     1 (default) or 0: with 0 the macros leave no instruction and no byte.
//   COROSCOPE_MAX_LEVEL   scopes above this level are compiled out (default 9, the highest level; -1: all).
//   COROSCOPE_CATEGORIES  which categories are compiled in: "*" (default), "net,db" (only these) or
//                         "*,-cache" (all but these). Unnamed scopes have the category "".
//   COROSCOPE_FIBERS      1: fibers change threads inside functions with scopes, and the compiler may keep
//                         the address of a thread-local across a call: read it out of line. Default 0,
//                         which is right for g++ and for clang from 19 on (docs/decisions/0008 says
//                         why), and 1 under a sanitizer.

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
#define COROSCOPE_FIBERS 1  // a sanitizer asks for the addresses
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define COROSCOPE_FIBERS 1
#endif
#endif
#endif
#if !defined(COROSCOPE_FIBERS) && defined(__clang__) && !defined(__x86_64__)
#if __clang_major__ < 19
#define COROSCOPE_FIBERS 1  // there coroutines need it, too: detail/thread_state.hpp
#endif
#endif
#ifndef COROSCOPE_FIBERS
#define COROSCOPE_FIBERS 0
#endif

// What changes layouts with COROSCOPE_ENABLED stands in an inline namespace of its own, so that
// translation units built differently never share a type of different layout.
#if COROSCOPE_ENABLED
#define COROSCOPE_ABI enabled
#else
#define COROSCOPE_ABI disabled
#endif

namespace coroscope::detail {

// One entry of a category list against a name: is `name` equal to list[begin, end)?
constexpr bool entry_is(const char* list, unsigned begin, unsigned end, const char* name) noexcept {
    unsigned at = begin;
    while (at < end && *name != '\0' && list[at] == *name) {
        ++at;
        ++name;
    }
    return at == end && *name == '\0';
}

/// Does COROSCOPE_CATEGORIES's list let this category through? The last entry that matches decides.
constexpr bool category_enabled(const char* list, const char* name) noexcept {
    bool enabled = false;
    unsigned begin = 0;
    for (unsigned at = 0;; ++at) {
        if (list[at] != ',' && list[at] != '\0') continue;
        const bool negative = list[begin] == '-';
        if (entry_is(list, begin, at, "*")) enabled = true;
        if (entry_is(list, begin + (negative ? 1U : 0U), at, name)) enabled = !negative;
        if (list[at] == '\0') return enabled;
        begin = at + 1;
    }
}

/// Is a scope of this category and level compiled in?
constexpr bool compiled_in(const char* category, int level) noexcept {
    return COROSCOPE_ENABLED != 0 && level <= COROSCOPE_MAX_LEVEL &&
           category_enabled(COROSCOPE_CATEGORIES, category);
}

}  // namespace coroscope::detail
