// SPDX-License-Identifier: Apache-2.0
#pragma once

// A foreign coroutine type, instrumented, that is resumed step by step, and an awaitable that gives a value.

#include <coroutine>
#include <utility>

#include <coroscope/instrumented.hpp>

namespace coroscope::test {

/// Suspends, and gives a value. The coroutine's owner resumes it.
struct value_later {
    int value;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    int await_resume() const noexcept { return value; }
};

/// A coroutine that is resumed by hand. It yields integers and gets them back, and awaits integers
/// by await_transform.
class stepped {
public:
    struct promise {
        stepped get_return_object() noexcept {
            return stepped(std::coroutine_handle<promise>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        value_later yield_value(int value) const noexcept { return {value}; }
        value_later await_transform(int value) const noexcept { return {value}; }
        template <class Awaitable>
        Awaitable&& await_transform(Awaitable&& awaitable) const noexcept {
            return static_cast<Awaitable&&>(awaitable);
        }
        void unhandled_exception() noexcept { failed = true; }
        void return_value(int value) noexcept { result = value; }
        int result = 0;
        bool failed = false;
    };
    using promise_type = coroscope::instrumented<promise>;

    stepped(stepped&& other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)), steps_(other.steps_) {}
    stepped& operator=(stepped&&) = delete;
    ~stepped() {
        if (handle_) handle_.destroy();
    }

    void step() {
        ++steps_;
        handle_.resume();
    }
    /// The number of resumptions. After the end it is one more than the number of suspensions.
    [[nodiscard]] unsigned steps() const { return steps_; }
    [[nodiscard]] bool done() const { return handle_.done(); }
    [[nodiscard]] int result() const { return handle_.promise().result; }
    [[nodiscard]] bool failed() const { return handle_.promise().failed; }
    /// Steps until it has ended.
    int run() {
        while (!done()) step();
        return handle_.promise().result;
    }

private:
    explicit stepped(std::coroutine_handle<promise> of) noexcept : handle_(of) {}
    std::coroutine_handle<promise> handle_;
    unsigned steps_ = 0;
};

}  // namespace coroscope::test
