// SPDX-License-Identifier: Apache-2.0
#pragma once

// try, catch and throw for headers that must also compile with -fno-exceptions. Without exceptions
// the guarded block runs unguarded, and the handler is compiled and left out.

#if defined(__cpp_exceptions)
#define COROSCOPE_DETAIL_TRY try
#define COROSCOPE_DETAIL_CATCH(...) catch (__VA_ARGS__)
#define COROSCOPE_DETAIL_RETHROW throw
#else
#define COROSCOPE_DETAIL_TRY if constexpr (true)
#define COROSCOPE_DETAIL_CATCH(...) else
#define COROSCOPE_DETAIL_RETHROW static_cast<void>(0)
#endif

// Must precede a COROSCOPE_DETAIL_CATCH(...) around user code that does not rethrow. pthread_exit
// and cancellation unwind the stack with an exception that only those handlers see, and end the
// process if it is not rethrown. The C library throws no object, so the reference is to null;
// COROSCOPE_DETAIL_CATCHES_NULL before the function makes UBSan accept it.
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
