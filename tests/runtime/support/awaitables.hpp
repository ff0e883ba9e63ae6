// SPDX-License-Identifier: Apache-2.0
#pragma once

// Awaitables of every form that the language knows. A `slot` keeps the waiter for the test to resume.

#include <coroutine>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace coroscope::test {

struct slot {
    std::coroutine_handle<> waiter;
    void resume() { std::exchange(waiter, nullptr).resume(); }
};

/// await_suspend returns void. Neither movable nor copyable.
class suspend_into {
public:
    explicit suspend_into(slot& into) noexcept : into_(&into) {}
    suspend_into(const suspend_into&) = delete;
    suspend_into& operator=(const suspend_into&) = delete;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) noexcept { into_->waiter = waiter; }
    void await_resume() const noexcept {}

private:
    slot* into_;
};

/// await_suspend returns bool: the coroutine stays suspended or goes on.
struct maybe_pause {
    maybe_pause(slot& into, bool stays) noexcept : into_(&into), stays_(stays) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiter) noexcept {
        if (stays_) into_->waiter = waiter;
        return stays_;
    }
    int await_resume() const noexcept { return 7; }

private:
    slot* into_;
    bool stays_;
};

/// await_suspend returns the handle of another coroutine, its own handle, or a no-op handle.
struct go_to {
    enum class where { other, self, nowhere };
    go_to(slot& into, where to, std::coroutine_handle<> other = {}) noexcept
        : into_(&into), to_(to), other_(other) {}
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) noexcept {
        if (to_ == where::self) return waiter;
        into_->waiter = waiter;
        return to_ == where::other ? other_ : std::noop_coroutine();
    }
    void await_resume() const noexcept {}

private:
    slot* into_;
    where to_;
    std::coroutine_handle<> other_;
};

struct throwing_pause {
    throwing_pause() noexcept {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const { throw std::runtime_error("not today"); }
    void await_resume() const noexcept {}
};

/// Ready at once. Returns its value, by value, by reference or moved.
template <class T>
class ready {
public:
    explicit ready(T value) : value_(static_cast<T&&>(value)) {}
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    T await_resume() { return static_cast<T&&>(value_); }

private:
    T value_;
};

/// Its operator co_await is a member, with overloads for lvalues and rvalues.
struct with_member {
    explicit with_member(slot& into) noexcept : into_(&into) {}
    with_member(const with_member&) = delete;
    with_member& operator=(const with_member&) = delete;
    struct awaiter {
        awaiter(slot& into, const char* text) noexcept : into_(&into), text_(text) {}
        awaiter(const awaiter&) = delete;
        awaiter& operator=(const awaiter&) = delete;
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> waiter) noexcept { into_->waiter = waiter; }
        std::string await_resume() const { return text_; }

    private:
        slot* into_;
        const char* text_;
    };
    awaiter operator co_await() & noexcept { return {*into_, "lvalue"}; }
    awaiter operator co_await() && noexcept { return {*into_, "rvalue"}; }

private:
    slot* into_;
};

/// Its operator co_await is a free function and returns a reference into the operand.
struct with_free {
    explicit with_free(slot& into) noexcept : inner_{into} {}
    friend suspend_into& operator co_await(with_free & self) noexcept { return self.inner_; }
    friend suspend_into& operator co_await(with_free && self) noexcept { return self.inner_; }

private:
    suspend_into inner_;
};

}  // namespace coroscope::test
