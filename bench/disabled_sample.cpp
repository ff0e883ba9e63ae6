// SPDX-License-Identifier: Apache-2.0

// Compiled twice for the row scope.disabled, with COROSCOPE_ENABLED=0 and without any macro
// (BENCH_WITHOUT_MACROS): both must give the same machine code, coroutine frames included.

#include <coroutine>
#include <exception>

#ifdef BENCH_WITHOUT_MACROS
#define COROSCOPE(label) static_assert(true)
#define COROSCOPE_FUNCTION() static_assert(true)
#define COROSCOPE_ARGS(label, ...) static_assert(true)
#define COROSCOPE_CAT(category, level, label) static_assert(true)
#define COROSCOPE_AWAIT(label, ...) __VA_ARGS__
#define SAMPLE_PROMISE(promise) promise
#else
#include <coroscope/coroscope.hpp>
#define SAMPLE_PROMISE(promise) coroscope::instrumented<promise>
#endif

void work(int& value);

struct activity {
    struct promise {
        activity get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
    using promise_type = SAMPLE_PROMISE(promise);
};

int function(int value) {
    COROSCOPE_FUNCTION();
    {
        COROSCOPE("block");
        work(value);
    }
    COROSCOPE_ARGS("arguments", value);
    COROSCOPE_CAT("category", 3, "more");
    work(value);
    return value;
}

activity coroutine(int value) {
    COROSCOPE_FUNCTION();
    for (int each = 0; each < value; ++each) {
        COROSCOPE("step");
        work(value);
        co_await COROSCOPE_AWAIT("pause", std::suspend_always{});
    }
}
