// SPDX-License-Identifier: Apache-2.0

// Where a library specialises coroutine_traits itself, instrumenting from outside says that it did not
// take.
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
