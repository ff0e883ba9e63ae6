// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports to ThreadSanitizer an order between threads that it cannot see, because the library that
// establishes the order may be built without it. Empty in other builds. Thread-safe.

#include <coroscope/detail/sanitized_stack.hpp>

#if defined(COROSCOPE_DETAIL_TSAN)
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace coroscope::detail {

/// All earlier work of this thread happens before the work that follows take_order_from(address) on
/// another thread.
inline void give_order_to([[maybe_unused]] void* address) noexcept {
#if defined(COROSCOPE_DETAIL_TSAN)
    __tsan_release(address);
#endif
}

inline void take_order_from([[maybe_unused]] void* address) noexcept {
#if defined(COROSCOPE_DETAIL_TSAN)
    __tsan_acquire(address);
#endif
}

}  // namespace coroscope::detail
