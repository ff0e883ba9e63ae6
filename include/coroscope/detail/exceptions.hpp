// SPDX-License-Identifier: Apache-2.0
#pragma once

// try, catch and throw for headers that also stand where exceptions are off (-fno-exceptions). There the guarded block
// runs unguarded, and what handles an exception is compiled and left out.

#if defined(__cpp_exceptions)
#define COROSCOPE_DETAIL_TRY try
#define COROSCOPE_DETAIL_CATCH(...) catch (__VA_ARGS__)
#define COROSCOPE_DETAIL_RETHROW throw
#else
#define COROSCOPE_DETAIL_TRY if constexpr (true)
#define COROSCOPE_DETAIL_CATCH(...) else
#define COROSCOPE_DETAIL_RETHROW static_cast<void>(0)
#endif

// Stands before a COROSCOPE_DETAIL_CATCH(...) that does not throw on, where user code runs. pthread_exit and cancellation unwind
// the stack by what only those two see, and end the process where it is not thrown on. The C library throws no object: the
// reference is to null, which COROSCOPE_DETAIL_CATCHES_NULL before the function lets UBSan pass.
#if defined(__cpp_exceptions) &&                                                                   \
    __has_include(<bits/cxxabi_forced.h>)  // libstdc++: one class, nothing else
#include <bits/cxxabi_forced.h>
#define COROSCOPE_DETAIL_PASS_UNWINDING                                                            \
    catch (const __cxxabiv1::__forced_unwind&) {                                                   \
        throw;                                                                                     \
    }
#define COROSCOPE_DETAIL_CATCHES_NULL __attribute__((no_sanitize("null")))
#else
#define COROSCOPE_DETAIL_PASS_UNWINDING
#define COROSCOPE_DETAIL_CATCHES_NULL
#endif
