// SPDX-License-Identifier: Apache-2.0
#pragma once

// Properties of the compiler of this build.

namespace coroscope::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

/// Whether a sanitizer checks the library that a test calls, and so makes it slow. The test itself may be
/// compiled without the sanitizer.
#if defined(COROSCOPE_TEST_CHECKED_LIBRARY)
inline constexpr bool library_sanitized = true;
#else
inline constexpr bool library_sanitized = sanitized;
#endif

// ThreadSanitizer follows only code that was built with it: not the stacks and synchronisation of
// other libraries.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool thread_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool thread_sanitized = true;
#else
inline constexpr bool thread_sanitized = false;
#endif
#else
inline constexpr bool thread_sanitized = false;
#endif

#if defined(__OPTIMIZE__)
inline constexpr bool optimized = true;
#else
inline constexpr bool optimized = false;
#endif

/// g++ 12 makes it one at -O2 and above only. No macro distinguishes -O1, so the build defines one.
#if defined(COROSCOPE_TEST_TAIL_CALLS)
inline constexpr bool symmetric_transfer_is_a_tail_call = !sanitized && optimized;
#else
inline constexpr bool symmetric_transfer_is_a_tail_call = false;
#endif

}  // namespace coroscope::test
