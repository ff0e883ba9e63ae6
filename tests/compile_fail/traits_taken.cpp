// SPDX-License-Identifier: Apache-2.0

// If a library specialises coroutine_traits itself, COROSCOPE_INSTRUMENT_COROUTINE must fail with a
// message.
#include <coroutine>

#include <coroscope/instrumented.hpp>

struct detached {
    struct promise_type {
        detached get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept {}
    };
};

#if defined(OFFENCE)
template <>
struct std::coroutine_traits<detached> {
    using promise_type = detached::promise_type;
};
#endif

COROSCOPE_INSTRUMENT_COROUTINE(detached);

detached nothing() { co_return; }

int main() { nothing(); }
