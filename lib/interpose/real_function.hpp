// SPDX-License-Identifier: Apache-2.0
#pragma once

// The C library's functions of locks, called through pointers that are never null, so that an
// uncontended lock needs no check.

#include <cerrno>
#include <cstddef>

namespace coroscope::interpose {

/// A name as a template argument.
template <std::size_t Size>
struct symbol_name {
    consteval symbol_name(const char (&from)[Size]) noexcept {
        for (std::size_t at = 0; at < Size; ++at) text[at] = from[at];
    }
    char text[Size]{};
};

/// Returns the next definition in the search order of the loader, or null. If it is the C
/// library's, returns the default version: some C libraries return an old one for a name without a
/// version.
[[gnu::cold]] void* find_function(const char* name) noexcept;

/// A function of the C library that returns 0 or the number of an error.
template <symbol_name Name, class... Arguments>
struct real_function {
    using function = int(Arguments...);

    // The load is plain, so that the call instruction can make it. Stores are atomic.
    [[gnu::always_inline]] static int call(Arguments... arguments) { return found(arguments...); }
    static function* find() noexcept {
        void* const address = interpose::find_function(Name.text);
        function* const result = address == nullptr ? refuse : reinterpret_cast<function*>(address);
        __atomic_store_n(&found, result, __ATOMIC_RELAXED);
        return result;
    }

private:
    static int refuse(Arguments... /*unused*/) { return ENOSYS; }
    static int find_and_call(Arguments... arguments) {
        find();
        return call(arguments...);
    }

    static inline constinit function* found = find_and_call;
};

}  // namespace coroscope::interpose
