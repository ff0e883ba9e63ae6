// SPDX-License-Identifier: Apache-2.0
#pragma once

// One function of the C library that this library replaces, and the report of a call of it.
//
// Threads: any, also in signal handlers, and before and after this library's constructor.

#include <cerrno>
#include <cstdint>

#include "../trace/interposed_calls.hpp"

namespace coroscope::interpose {

using trace::blocked_function;

/// The next definition of a function in the search order of the loader: the C library's, or that of
/// a sanitizer. The objects are in a section of their own, so that the constructor finds them all
/// and no later call enters the loader, which takes a lock.
struct next_symbol {
    const char* name;
    void* address;
};

/// Looks the symbol up. Returns null if there is none.
[[gnu::cold]] void* find_next(next_symbol& symbol) noexcept;

template <class Function>
[[gnu::always_inline]] inline Function* next_of(next_symbol& symbol) noexcept {
    void* found = __atomic_load_n(&symbol.address, __ATOMIC_RELAXED);
    if (found == nullptr) [[unlikely]]
        found = interpose::find_next(symbol);
    return reinterpret_cast<Function*>(found);
}

/// The recorder; null until it has connected.
[[gnu::visibility("hidden")]] extern const trace::call_recorder* recorder;

/// The time of a call's start in ticks; 0 if it is not recorded.
[[gnu::always_inline]] inline std::uint64_t begin_call() noexcept {
    const trace::call_recorder* to = __atomic_load_n(&recorder, __ATOMIC_ACQUIRE);
    return to != nullptr ? to->begin() : 0;
}

inline void end_call(std::uint64_t began, blocked_function function, int descriptor) noexcept {
    __atomic_load_n(&recorder, __ATOMIC_ACQUIRE)->end(began, function, descriptor);
}

/// The result of a function that the C library does not have.
template <class Result>
Result refuse() noexcept {
    errno = ENOSYS;
    return static_cast<Result>(-1);
}

}  // namespace coroscope::interpose

// Defines the exported function `name`. The definition has a name of its own in C++ and the
// function's name for the linker, because the headers may declare the function with other
// attributes or as an inline function. Must be used in the namespace above, for outside of an
// unnamed namespace alone the name is exported.
//
// The real call is made without an object that needs a destructor, since a cancellation or a
// siglongjmp() may leave it, and it is the last action if nothing is recorded. `descriptor` may use
// the parameters and `result`. `before` is executed first.
#define COROSCOPE_CALL_AFTER(before, Result, name, function, descriptor, parameters, arguments)    \
    extern "C"                                                                                     \
        __attribute__((visibility("default"))) Result interposed_##name parameters __asm__(#name); \
    Result interposed_##name parameters {                                                          \
        before;                                                                                    \
        [[gnu::section("coroscope_next"), gnu::used]] static constinit next_symbol symbol{         \
            #name, nullptr};                                                                       \
        const auto real = interpose::next_of<Result parameters>(symbol);                           \
        if (real == nullptr) [[unlikely]]                                                          \
            return interpose::refuse<Result>();                                                    \
        const std::uint64_t began = interpose::begin_call();                                       \
        if (began == 0) return real arguments;                                                     \
        const Result result = real arguments;                                                      \
        interpose::end_call(began, blocked_function::function, descriptor);                        \
        return result;                                                                             \
    }                                                                                              \
    static_assert(true)

#define COROSCOPE_CALL(Result, name, function, descriptor, parameters, arguments)                  \
    COROSCOPE_CALL_AFTER(, Result, name, function, descriptor, parameters, arguments)
