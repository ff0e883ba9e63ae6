// SPDX-License-Identifier: Apache-2.0

// The size that instrumentation adds to a coroutine's frame, measured through operator new.

#include <coroutine>
#include <cstddef>
#include <exception>
#include <new>

#include <coroscope/coroscope.hpp>

#include "once.hpp"

namespace bench {
namespace {

std::size_t last_frame = 0;

// The coroutine stays suspended at its start; only its size counts.
template <template <class> class Wrap>
struct sized {
    struct promise {
        static void* operator new(std::size_t bytes) {
            last_frame = bytes;
            return ::operator new(bytes);
        }
        static void operator delete(void* frame) { ::operator delete(frame); }

        sized get_return_object() noexcept {
            return {std::coroutine_handle<promise>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
    using promise_type = Wrap<promise>;

    std::coroutine_handle<promise> frame;
};

template <class Promise>
using as_it_is = Promise;

using plain = sized<as_it_is>;
using instrumented = sized<coroscope::instrumented>;

template <class Coroutine>
double frame_size(Coroutine coroutine) {
    coroutine.frame.destroy();
    return static_cast<double>(last_frame);
}

constexpr double repeated = 4;

// Not inlined: clang omits a frame if it sees the frame's end.
template <class Coroutine>
[[gnu::noinline]] Coroutine empty() {
    co_return;
}

template <class Coroutine>
[[gnu::noinline]] Coroutine awaits() {
    co_await std::suspend_always{};
    co_await std::suspend_always{};
    co_await std::suspend_always{};
    co_await std::suspend_always{};
}

[[gnu::noinline]] plain scopes() {
    {
        COROSCOPE("1");
        co_await std::suspend_always{};
    }
    {
        COROSCOPE("2");
        co_await std::suspend_always{};
    }
    {
        COROSCOPE("3");
        co_await std::suspend_always{};
    }
    {
        COROSCOPE("4");
        co_await std::suspend_always{};
    }
}

once_result bytes_per_task() {
    const double size = frame_size(empty<plain>());
    return {frame_size(empty<instrumented>()) - size, {}, ""};
}

once_result bytes_per_await() {
    const double ours = frame_size(awaits<instrumented>()) - frame_size(empty<instrumented>());
    const double theirs = frame_size(awaits<plain>()) - frame_size(empty<plain>());
    return {(ours - theirs) / repeated, {}, ""};
}

once_result bytes_per_scope() {
    return {(frame_size(scopes()) - frame_size(awaits<plain>())) / repeated, {}, ""};
}

}  // namespace

std::vector<once_row> frame_rows() {
    return {
        {"frame.bytes_per_await", "B", bytes_per_await},
        {"frame.bytes_per_scope", "B", bytes_per_scope},
        {"frame.bytes_per_task", "B", bytes_per_task},
    };
}

}  // namespace bench
