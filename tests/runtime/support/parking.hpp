// SPDX-License-Identifier: Apache-2.0
#pragma once

// An awaitable that keeps the handle of the suspended coroutine for another thread.

#include <atomic>
#include <coroutine>
#include <thread>

namespace coroscope::test {

struct parking {
    std::atomic<void*> parked{nullptr};
    struct awaiter {
        parking* place;
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> handle) const noexcept {
            place->parked = handle.address();
        }
        void await_resume() const noexcept {}
    };
    awaiter operator co_await() noexcept { return {this}; }
    /// Returns when a coroutine awaits this.
    std::coroutine_handle<> wait() const {
        while (parked == nullptr) std::this_thread::yield();
        return std::coroutine_handle<>::from_address(parked);
    }
    void resume() const { wait().resume(); }
};

}  // namespace coroscope::test
