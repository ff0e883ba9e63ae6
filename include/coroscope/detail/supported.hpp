// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ends the compilation if the compiler, its options or the system are unsuitable. One #error has
// the remedy; the missing file after it keeps further errors away. docs/start/compilers.md lists
// the tested ones.

#if defined(_MSC_VER) && !defined(__clang__)
#define COROSCOPE_DETAIL_UNSUPPORTED
#error "Coroscope needs g++ 12, clang 16 or a later version of these; MSVC is not supported"
#elif !defined(__linux__)
#define COROSCOPE_DETAIL_UNSUPPORTED
#error "Coroscope needs Linux; other systems are not supported (docs/start/compilers.md)"
#elif __cplusplus < 202002L
#define COROSCOPE_DETAIL_UNSUPPORTED
#error "Coroscope needs C++20: compile with -std=c++20 or later"
#elif defined(__clang__) && __clang_major__ < 16
#define COROSCOPE_DETAIL_UNSUPPORTED
#error "Coroscope needs clang 16 or later (or g++ 12 or later)"
#elif !defined(__clang__) && __GNUC__ < 12
#define COROSCOPE_DETAIL_UNSUPPORTED
#error "Coroscope needs g++ 12 or later (or clang 16 or later)"
#elif !defined(__cpp_impl_coroutine)
#define COROSCOPE_DETAIL_UNSUPPORTED
#error "Coroscope needs coroutines: compile with -std=c++20 or later and without -fno-coroutines"
#elif !__has_include(<source_location>)
#define COROSCOPE_DETAIL_UNSUPPORTED
#error "Coroscope needs <source_location>: the standard library of g++ 12 or of clang 16, or later"
#endif

#if defined(COROSCOPE_DETAIL_UNSUPPORTED)
#include <see_the_error_above>
#endif
