// SPDX-License-Identifier: Apache-2.0

// A scope of each macro in a loop: around nothing, around a call, and in a coroutine around an
// await. With -DSAMPLE_WITHOUT_MACROS, the same loops have no scopes. The test counts in the
// machine code the instructions of one turn while no session runs.

#include <coroutine>

#ifdef SAMPLE_WITHOUT_MACROS
#define COROSCOPE(label) static_assert(true)
#define COROSCOPE_FUNCTION() static_assert(true)
#define COROSCOPE_CAT(category, level, label) static_assert(true)
#define COROSCOPE_ARGS(label, ...) static_assert(true)
#else
#include <coroscope/macro.hpp>
#endif

void work(int);
bool ready() noexcept;

// Arguments in memory.
extern int key, size;

struct background {
    struct promise_type {
        background get_return_object() noexcept {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept {}
    };
    std::coroutine_handle<> frame;
};

// May suspend, so that variables in use are in the frame. The counted path does not suspend.
struct pause {
    bool await_ready() const noexcept { return ready(); }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    void await_resume() const noexcept {}
};

// Marks a turn in the machine code. It is never executed.
#define MARK() asm volatile("hlt")

#define LOOPS(name, ...)                                                                           \
    extern "C" void name##_around_nothing(int turns);                                              \
    void name##_around_nothing(int turns) {                                                        \
        for (int turn = 0; turn < turns; ++turn) {                                                 \
            {                                                                                      \
                __VA_ARGS__;                                                                       \
            }                                                                                      \
            MARK();                                                                                \
        }                                                                                          \
    }                                                                                              \
    extern "C" void name##_around_call(int turns);                                                 \
    void name##_around_call(int turns) {                                                           \
        for (int turn = 0; turn < turns; ++turn) {                                                 \
            __VA_ARGS__;                                                                           \
            work(turn);                                                                            \
        }                                                                                          \
    }                                                                                              \
    background name##_around_await(int turns) {                                                    \
        for (int turn = 0; turn < turns; ++turn) {                                                 \
            __VA_ARGS__;                                                                           \
            co_await pause();                                                                      \
        }                                                                                          \
    }

LOOPS(scope, COROSCOPE("scope"))
LOOPS(function, COROSCOPE_FUNCTION())
LOOPS(category, COROSCOPE_CAT("category", 3, "scope"))
LOOPS(arguments, COROSCOPE_ARGS("scope", key, size))
LOOPS(local_arguments, COROSCOPE_ARGS("scope", turn, turns))
