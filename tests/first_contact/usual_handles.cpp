// SPDX-License-Identifier: Apache-2.0

// Coroutine types as their authors usually write them, with a handle of their promise_type.

#include <coroscope/instrumented.hpp>
#include <coroscope/macro.hpp>

#include <functional>

namespace {

// from_promise(*this) with the promise_type of the coroutine.
struct own_task {
    struct own_promise;
    using promise_type = coroscope::instrumented<own_promise>;

    struct own_promise {
        int value = 0;
        own_task get_return_object() {
            return own_task{std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_value(int returned) { value = returned; }
        void unhandled_exception() {}
    };

    std::coroutine_handle<promise_type> handle = nullptr;
};

// from_promise(*this) with the class in which it is written.
struct eager_task {
    struct eager_promise;
    using promise_type = coroscope::instrumented<eager_promise>;

    struct eager_promise {
        eager_task get_return_object() {
            return {std::coroutine_handle<eager_promise>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() { ended = true; }
        void unhandled_exception() {}
        bool ended = false;
    };

    std::coroutine_handle<promise_type> handle;
};

own_task seven() {
    COROSCOPE_FUNCTION();
    co_return 7;
}

eager_task nothing() { co_return; }

// An awaitable that names the type of its awaiter's handle.
struct named_awaiter {
    bool await_ready() noexcept { return false; }
    void await_suspend(std::coroutine_handle<own_task::own_promise> waiter) noexcept {
        waiter.promise().value = 1;
    }
    void await_resume() noexcept {}
};

own_task waiting() {
    co_await named_awaiter{};
    co_return 2;
}

template <class Promise>
const void* address_of(std::coroutine_handle<Promise> handle) {
    return &handle.promise();
}

bool converts(std::coroutine_handle<own_task::own_promise> plain) {
    const std::coroutine_handle<own_task::promise_type> ours = plain;
    const std::coroutine_handle<> erased = ours;
    std::hash<std::coroutine_handle<>> hash;  // not const: libstdc++ 12
    return ours == plain && erased == ours && address_of(ours) == address_of(plain) &&
           hash(erased) == hash(plain) && static_cast<bool>(ours);
}

}  // namespace

int main() {
    own_task first = seven();
    if (!converts(first.handle)) return 1;
    first.handle.resume();
    if (!first.handle.done() || first.handle.promise().value != 7) return 2;
    first.handle.destroy();
    first.handle = nullptr;

    eager_task second = nothing();
    if (!second.handle.promise().ended) return 3;
    second.handle.destroy();

    own_task third = waiting();
    third.handle.resume();
    if (third.handle.promise().value != 1) return 4;
    third.handle();
    if (third.handle.promise().value != 2) return 5;
    third.handle.destroy();
    return 0;
}
