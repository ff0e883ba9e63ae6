// SPDX-License-Identifier: Apache-2.0
#pragma once

// The handle of a coroutine whose promise is instrumented. A type that declares
//
//   using promise_type = coroscope::instrumented<my_promise>;
//   std::coroutine_handle<promise_type> handle;
//
// can keep its other lines: from_promise() takes a my_promise, promise() returns it, and the handle
// converts from and to std::coroutine_handle<my_promise>, which has the same address. The standard
// does not foresee specialisations of coroutine_handle; docs/decisions/0065 has the reason for this
// one, and the test `usual_handles` compiles it with each compiler and standard library.

#include <coroutine>
#include <cstddef>

#include <coroscope/config.hpp>

#if COROSCOPE_ENABLED

namespace coroscope::inline COROSCOPE_ABI {
template <class Promise>
class instrumented;
}  // namespace coroscope::inline COROSCOPE_ABI

// libc++ 21 and later mark templates that programs must not specialise.
#if defined(__clang__) && defined(__has_warning)
#if __has_warning("-Winvalid-specialization")
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winvalid-specialization"
#define COROSCOPE_DETAIL_SPECIALISES 1
#endif
#endif

template <class Promise>
struct std::coroutine_handle<coroscope::instrumented<Promise>> : std::coroutine_handle<Promise> {
    constexpr coroutine_handle() noexcept = default;
    constexpr coroutine_handle(std::nullptr_t) noexcept {}
    constexpr coroutine_handle(std::coroutine_handle<Promise> theirs) noexcept
        : std::coroutine_handle<Promise>(theirs) {}
    coroutine_handle& operator=(std::nullptr_t) noexcept { return *this = coroutine_handle(); }

    /// `promise` must be the one inside an instrumented<Promise>.
    static coroutine_handle from_promise(Promise& promise) {
        return std::coroutine_handle<Promise>::from_promise(promise);
    }
    static coroutine_handle from_promise(coroscope::instrumented<Promise>& promise) {
        return from_promise(promise.promise());
    }
    static constexpr coroutine_handle from_address(void* frame) noexcept {
        return std::coroutine_handle<Promise>::from_address(frame);
    }

    /// The wrapper, which is at the address of the promise.
    coroscope::instrumented<Promise>& coroscope_promise() const {
        return reinterpret_cast<coroscope::instrumented<Promise>&>(this->promise());
    }
};

#if defined(COROSCOPE_DETAIL_SPECIALISES)
#pragma clang diagnostic pop
#undef COROSCOPE_DETAIL_SPECIALISES
#endif

#endif

namespace coroscope::detail {

/// The state of the task that this instrumented coroutine is.
template <class Handle>
[[gnu::always_inline]] inline auto& state_of_task(Handle handle) {
    if constexpr (requires { handle.coroscope_promise(); }) {
        return handle.coroscope_promise().coroscope_task();
    } else {
        return handle.promise().coroscope_task();
    }
}

}  // namespace coroscope::detail
