// SPDX-License-Identifier: Apache-2.0

// A generator whose promise deletes await_transform cannot await, instrumented or not.
#include <coroutine>

#include <coroscope/instrumented.hpp>

struct generator {
    struct promise {
        generator get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        std::suspend_never yield_value(int) const noexcept { return {}; }
        void await_transform() = delete;
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept {}
    };
    using promise_type = coroscope::instrumented<promise>;
};

generator numbers() {
#if defined(OFFENCE)
    co_await std::suspend_never();
#endif
    co_yield 1;
}

int main() { numbers(); }
