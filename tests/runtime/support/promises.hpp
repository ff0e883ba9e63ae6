// SPDX-License-Identifier: Apache-2.0
#pragma once

// Common parts of the promise types under test, and the coroutine type that owns its frame.

#include <coroscope/instrumented.hpp>

#include <coroutine>
#include <exception>
#include <utility>

#include <doctest/doctest.h>

namespace coroscope::test {

/// Lazily started, suspended at the end.
template <class Promise>
struct lazy_base {
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const { std::terminate(); }
};

template <class Promise>
struct owner {
    using promise_type = instrumented<Promise>;
    using handle_type = std::coroutine_handle<Promise>;
    explicit owner(handle_type frame) noexcept : handle(frame) {}
    owner(owner&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    owner& operator=(owner&&) = delete;
    ~owner() {
        if (handle) handle.destroy();
    }
    handle_type handle;
};

template <class Promise>
void run(owner<Promise>& coroutine) {
    coroutine.handle.resume();
    CHECK(coroutine.handle.done());
}

}  // namespace coroscope::test
