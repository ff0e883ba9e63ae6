// SPDX-License-Identifier: Apache-2.0
#pragma once

// The promise, awaiters and blocking waiter behind task<T>.

#include <coroutine>
#include <exception>
#include <new>
#include <type_traits>

#include <coroscope/config.hpp>
#include <coroscope/detail/awaiter.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/detail/hand_over.hpp>
#include <coroscope/detail/task_state.hpp>

namespace coroscope {
inline namespace COROSCOPE_ABI {
template <class T>
class task;
#if COROSCOPE_ENABLED
template <class Promise>
class instrumented;
#endif
}  // namespace COROSCOPE_ABI

namespace detail {

/// Where sync_wait() blocks: a futex-like word, set once. The library's, whatever the
/// switches of those who use it.
class sync_wait_state {
public:
    COROSCOPE_API void wait() noexcept;
    COROSCOPE_API void set() noexcept;

private:
    int done_ = 0;
};

inline namespace COROSCOPE_ABI {

/// Who awaits a task: the coroutine to resume, and its state where it is a task itself.
struct continuation {
    std::coroutine_handle<> handle = std::noop_coroutine();
    task_state* task = nullptr;
};

/// The initial suspension: the task waits for its awaiter, who tells that it runs, where that is a task itself.
struct task_initial_awaiter : std::suspend_always {
    void coroscope_child() const noexcept {}
};

/// The final suspension: resumes the awaiter. When both are tasks, in one recorded moment.
class task_final_awaiter {
public:
    constexpr bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
        return ended.promise().next.handle;
    }
    void await_resume() const noexcept {}

    /// Names this awaiter as one whose other side is ours.
    void coroscope_child() const noexcept {}
    template <class Promise>
    std::coroutine_handle<> coroscope_finish(const Promise& ended,
                                             task_state& finished) const noexcept {
        const continuation next = ended.next;
        finish_and_resume(finished, next.task);
        return next.handle;
    }
};

class task_promise_base {
public:
    task_initial_awaiter initial_suspend() const noexcept { return {}; }
    task_final_awaiter final_suspend() const noexcept { return {}; }
    continuation next;
};

template <class T>
class task_promise final : public task_promise_base {
public:
    task_promise() noexcept {}
    task_promise(const task_promise&) = delete;
    task_promise& operator=(const task_promise&) = delete;
    ~task_promise() {
        drop_value();
        if (state_ == state::error) error_.~exception_ptr();
    }

    /// What a braced list in co_return makes.
    using returned_type = T;

    task<T> get_return_object() noexcept;
    void unhandled_exception() noexcept {
        drop_value();
        ::new (static_cast<void*>(&error_)) std::exception_ptr(std::current_exception());
        state_ = state::error;
    }
    template <class Value = T>
        requires std::is_convertible_v<Value&&, T>
    void return_value(Value&& value) noexcept(std::is_nothrow_constructible_v<T, Value&&>) {
        drop_value();
        if constexpr (std::is_reference_v<T>) {
            ::new (static_cast<void*>(&value_)) stored(__builtin_addressof(value));
        } else {
            ::new (static_cast<void*>(&value_)) stored(static_cast<Value&&>(value));
        }
        state_ = state::value;
    }
    T result() {
        if (state_ == state::error) std::rethrow_exception(error_);
        if constexpr (std::is_reference_v<T>) {
            return static_cast<T>(*value_);
        } else {
            return moved(value_);
        }
    }

private:
    enum class state : unsigned char { nothing, value, error };
    using stored = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>;

    // After its co_return a coroutine destroys what it holds. Where a destructor throws, that is its end, or what a handler
    // of its own returns is its result: there is one already.
    void drop_value() noexcept {
        if constexpr (!std::is_trivially_destructible_v<stored>) {
            if (state_ != state::value) return;
            state_ = state::nothing;
            value_.~stored();
        }
    }

    union {
        stored value_;  // NOLINT(readability-identifier-naming): private as the union is
        std::exception_ptr error_;  // NOLINT(readability-identifier-naming)
    };
    state state_ = state::nothing;
};

template <>
class task_promise<void> final : public task_promise_base {
public:
    task<void> get_return_object() noexcept;
    void unhandled_exception() noexcept { error_ = std::current_exception(); }
    void return_void() const noexcept {}
    void result() const {
        if (error_) std::rethrow_exception(error_);
    }

private:
    std::exception_ptr error_;
};

template <class T>
class task_awaiter {
public:
    using handle = std::coroutine_handle<task_promise<T>>;
    explicit task_awaiter(handle frame) noexcept : frame_(frame) {}

    bool await_ready() const noexcept { return false; }
    T await_resume() const { return frame_.promise().result(); }

    /// From a coroutine that is no task, and with the profiler compiled out.
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter) const noexcept {
        frame_.promise().next.handle = awaiter;
        return frame_;
    }

#if COROSCOPE_ENABLED
    void coroscope_child() const noexcept {}
    /// From an instrumented coroutine: awaiter and awaited change places in one recorded moment.
    template <class Handle>
    std::coroutine_handle<> coroscope_transfer(Handle awaiter, task_state& awaiter_task,
                                               const void* where) const noexcept {
        using promise = coroscope::instrumented<task_promise<T>>;
        const handle awaited = frame_;
        auto& child = std::coroutine_handle<promise>::from_address(awaited.address()).promise();
        continuation& next = awaited.promise().next;
        next.handle = awaiter;
        // Between the two: g++ would gather them in a vector register first, which takes longer than two stores.
        __asm__ volatile("" : "+m"(next.handle));
        next.task = &awaiter_task;
        transfer_task(awaiter_task, child.coroscope_task(), where);
        return awaited;
    }
#endif

private:
    handle frame_;
};

/// The coroutine behind sync_wait(): awaits, keeps the result, sets the state. Not a task itself.
template <class Result>
class sync_waiter {
    static constexpr bool has_value = !std::is_void_v<Result>;
    using value = std::conditional_t<has_value, std::remove_reference_t<Result>, char>;

    struct notify {
        bool await_ready() const noexcept { return false; }
        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> self) const noexcept {
            self.promise().done->set();
        }
        void await_resume() const noexcept {}
    };

public:
    struct promise_type {
        template <class Awaitable>
        promise_type(Awaitable&&, sync_wait_state& state) noexcept : done(&state) {}
        sync_waiter get_return_object() noexcept {
            return sync_waiter(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        notify final_suspend() const noexcept { return {}; }
        void unhandled_exception() noexcept { error = std::current_exception(); }
        /// The result stays where the await expression has it: the coroutine stays suspended there.
        template <class Value>
        notify yield_value(Value&& result_value) noexcept {
            result = __builtin_addressof(result_value);
            return {};
        }
        void return_void() const noexcept {}

        sync_wait_state* done;
        value* result = nullptr;
        std::exception_ptr error;
    };

    explicit sync_waiter(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
    sync_waiter(const sync_waiter&) = delete;
    sync_waiter& operator=(const sync_waiter&) = delete;
    ~sync_waiter() { frame_.destroy(); }

    std::remove_cv_t<Result> run() {
        promise_type& promise = frame_.promise();
        frame_.resume();
        promise.done->wait();
        if (promise.error) std::rethrow_exception(promise.error);
        if constexpr (has_value) return static_cast<Result&&>(*promise.result);
    }

private:
    std::coroutine_handle<promise_type> frame_;
};

template <class Awaitable>
using await_result =
    decltype(resume_value(std::declval<std::add_lvalue_reference_t<awaiter_of<Awaitable>>>()));

template <class Awaitable>
sync_waiter<await_result<Awaitable>> wait_for(Awaitable&& awaitable, sync_wait_state&) {
    if constexpr (std::is_void_v<await_result<Awaitable>>) {
        co_await static_cast<Awaitable&&>(awaitable);
    } else {
        co_yield co_await static_cast<Awaitable&&>(awaitable);
    }
}

}  // namespace COROSCOPE_ABI
}  // namespace detail
}  // namespace coroscope
