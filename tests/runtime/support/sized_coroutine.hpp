// SPDX-License-Identifier: Apache-2.0
#pragma once

// A plain coroutine that keeps the size of its frame.

#include <coroutine>
#include <cstddef>
#include <cstdlib>

namespace coroscope::test {

inline std::size_t last_frame_bytes = 0;

struct sized_coroutine {
    struct promise_type {
        static void* operator new(std::size_t bytes) {
            last_frame_bytes = bytes;
            return std::malloc(bytes);
        }
        static void operator delete(void* frame) noexcept { std::free(frame); }
        sized_coroutine get_return_object() noexcept {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept {}
    };
    std::coroutine_handle<promise_type> handle;
};

/// Makes a coroutine, runs it to its end and returns its frame's size; 0 if the compiler needed no
/// frame.
template <class Make>
[[gnu::noinline]] std::size_t frame_bytes_of(Make make) {
    last_frame_bytes = 0;
    const sized_coroutine made = make();
    const std::size_t bytes = last_frame_bytes;
    while (!made.handle.done()) made.handle.resume();
    made.handle.destroy();
    return bytes;
}

}  // namespace coroscope::test
