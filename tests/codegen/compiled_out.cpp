// SPDX-License-Identifier: Apache-2.0

// Functions whose instrumentation is compiled out, compiled with one of
//   -DCOROSCOPE_ENABLED=0                          without the profiler
//   -DSAMPLE_CATEGORY                              each scope in a category that is compiled out, "" among them
//   -DSAMPLE_LEVEL                                 each scope above the highest level that is compiled in
//   -DSAMPLE_EVERY_LEVEL                           no level compiled in: scopes without a level have level 0
//   -DSAMPLE_WITHOUT_MACROS                        the same functions, without scopes
// All builds must have the same machine code. The program prints the size of each coroutine's frame,
// as requested from operator new.
//
// With COROSCOPE_ENABLED=0, awaits are labelled and promises instrumented, without effect.
// COROSCOPE_AWAIT and instrumented<> have no category and no level. With -DSAMPLE_INSTRUMENTED, every
// build has them, including the one without scopes. All these builds but the first must have the same
// machine code, too.

#include <coroutine>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <new>

#if defined(SAMPLE_CATEGORY)
#define COROSCOPE_CATEGORIES "on"
#elif defined(SAMPLE_LEVEL)
#define COROSCOPE_MAX_LEVEL 2
#elif defined(SAMPLE_EVERY_LEVEL)
#define COROSCOPE_MAX_LEVEL -1
#endif

#if defined(SAMPLE_INSTRUMENTED) || !defined(SAMPLE_WITHOUT_MACROS)
#include <coroscope/coroscope.hpp>
#endif

#if defined(SAMPLE_WITHOUT_MACROS)
#define SCOPE(label) static_assert(true)
#elif defined(SAMPLE_CATEGORY)
#define SCOPE(label) COROSCOPE_CAT("off", 0, label)
#elif defined(SAMPLE_LEVEL)
#define SCOPE(label) COROSCOPE_CAT("on", 3, label)
#else
#define SCOPE(label) COROSCOPE(label)
#endif

#if defined(SAMPLE_WITHOUT_MACROS) || defined(SAMPLE_LEVEL)  // their level is 0
#define FUNCTION() static_assert(true)
#define ARGUMENTS(label, ...) static_assert(true)
#else
#define FUNCTION() COROSCOPE_FUNCTION()
#define ARGUMENTS(label, ...) COROSCOPE_ARGS(label, __VA_ARGS__)
#endif

#if defined(COROSCOPE_ENABLED) && !COROSCOPE_ENABLED
#define IN_CONSTEXPR(...) __VA_ARGS__
#else
// C++20 allows no static variable in a constexpr function, and a scope with a category or level
// needs one.
#define IN_CONSTEXPR(...) static_assert(true)
#endif

#if defined(SAMPLE_INSTRUMENTED) || (defined(COROSCOPE_ENABLED) && !COROSCOPE_ENABLED)
#define AWAIT(label, ...) COROSCOPE_AWAIT(label, __VA_ARGS__)
#define PROMISE(promise) coroscope::instrumented<promise>
#else
#define AWAIT(label, ...) __VA_ARGS__
#define PROMISE(promise) promise
#endif

// The compiler does not know the body at a call: another definition may replace a weak function.
#define OPAQUE __attribute__((noinline, weak))
OPAQUE void work(int& value) { ++value; }

struct temporary {
    OPAQUE explicit temporary(int given) noexcept : value(given) {}
    OPAQUE ~temporary() {}
    int value;
};

std::size_t frame_bytes = 0;

struct activity {
    struct promise {
        static void* operator new(std::size_t bytes) {
            frame_bytes = bytes;
            return ::operator new(bytes);
        }
        static void operator delete(void* frame) { ::operator delete(frame); }
        activity get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
    using promise_type = PROMISE(promise);
};

// Never suspends, which the compiler does not know.
struct number {
    OPAQUE bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    int await_resume() const noexcept { return value; }
    int value;
};

int plain(int value) {
    FUNCTION();
    {
        SCOPE("block");
        work(value);
    }
    ARGUMENTS("value", value, value + 1);
    work(value);
    return value;
}

// Code with lambdas and temporaries of its own, and with others in the arguments of macros.
int with_arguments(int value) {
    ARGUMENTS("lambda", [&value] { return ++value; }());
    ARGUMENTS("temporary", temporary(value).value, [](auto given) { return given; }(value));
    const auto twice = [&value] {
        SCOPE("in a lambda");
        work(value);
        work(value);
    };
    twice();
    return temporary(value).value;
}

template <class Value>
OPAQUE Value in_template(Value value) {
    FUNCTION();
    SCOPE("template");
    ARGUMENTS("value", value);
    int copy = static_cast<int>(value);
    work(copy);
    return static_cast<Value>(copy);
}

constexpr int square(int value) {
    IN_CONSTEXPR(FUNCTION());
    IN_CONSTEXPR(SCOPE("constexpr"));
    IN_CONSTEXPR(ARGUMENTS("value", value));
    return value * value;
}
static_assert(square(3) == 9);

struct object {
    OPAQUE object() noexcept {
        SCOPE("constructor");
        work(value);
    }
    OPAQUE ~object() {
        SCOPE("destructor");
        work(value);
    }
    int value = 0;
};

OPAQUE activity steps(int value) {
    FUNCTION();
    for (int each = 0; each < 3; ++each) {
        SCOPE("step");
        work(value);
        co_await AWAIT("pause", number{1});
    }
}

OPAQUE activity nested(int value) {
    SCOPE("outer");
    // These must precede "rest": clang leaves a jump to the next instruction on an exception's path
    // for another scope there that is compiled out by its category.
    ARGUMENTS("value", value);
    ARGUMENTS("lambda", [&value] { return value; }());
    ARGUMENTS("temporary", temporary(value).value);
    {
        SCOPE("inner");
        value += co_await AWAIT("number", number{value});
    }
    SCOPE("rest");
    work(value);
    co_await AWAIT("lambda", [&value] { return number{value}; }());
    co_await AWAIT("temporary", number{temporary(value).value});
    work(value);
}

OPAQUE activity awaits_in_arguments(int value) {
    SCOPE("whole");
    work(value);
    ARGUMENTS("awaited", co_await number{value});
    const int awaited =
        co_await AWAIT("of an await", number{co_await AWAIT("inner", number{value})});
    value += awaited;
    work(value);
}

template <class Value>
OPAQUE activity coroutine_template(Value value) {
    FUNCTION();
    SCOPE("template");
    int copy = static_cast<int>(value);
    work(copy);
    co_await AWAIT("pause", number{1});
    work(copy);
}

int main() {
    const auto lambda = [](int value) __attribute__((noinline)) -> activity {
        SCOPE("lambda");
        work(value);
        co_await AWAIT("pause", number{1});
        work(value);
    };
    const auto print = [](const char* name) { std::printf("%s %zu\n", name, frame_bytes); };
    steps(2);
    print("steps");
    nested(2);
    print("nested");
    awaits_in_arguments(2);
    print("awaits_in_arguments");
    coroutine_template(2.0);
    print("coroutine_template");
    lambda(2);
    print("lambda");
    const object made;
    return plain(1) + with_arguments(2) + static_cast<int>(in_template(3L)) + square(made.value) ==
                   0
               ? 1
               : 0;
}
