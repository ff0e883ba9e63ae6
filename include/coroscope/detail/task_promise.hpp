// SPDX-License-Identifier: Apache-2.0
#pragma once

// The promise, awaiters and blocking waiter behind task<T>.

#include <coroutine>
#include <exception>
#include <new>
#include <type_traits>

#include <coroscope/config.hpp>

#if !COROSCOPE_ENABLED
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <coroscope/detail/awaiter.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/detail/hand_over.hpp>
#include <coroscope/detail/instrumented_handle.hpp>
#include <coroscope/detail/location.hpp>
#include <coroscope/detail/sanitized_order.hpp>
#include <coroscope/detail/task_transitions.hpp>

namespace coroscope {
inline namespace COROSCOPE_ABI {
template <class T>
class task;
#if COROSCOPE_ENABLED
template <class Promise>
class instrumented;
#endif
}  // namespace COROSCOPE_ABI

}  // namespace coroscope

#if COROSCOPE_ENABLED

namespace coroscope::detail {

/// The blocking state of sync_wait(): a futex-like word that is set once. It is in the library, so
/// it does not depend on the compile-time options of its users.
class sync_wait_state {
public:
    COROSCOPE_API void wait() noexcept;
    COROSCOPE_API void set() noexcept;

    /// wait() and set() for callers outside the library. ThreadSanitizer sees the library's atomic
    /// operations only if the library was built with it; these functions give it the order.
    void wait_for_set() noexcept {
        wait();
        detail::take_order_from(this);
    }
    void set_and_wake() noexcept {
        detail::give_order_to(this);
        set();
    }

private:
    int done_ = 0;
};

/// Writes one line about a task that cannot be awaited, with its place: the address of a
/// source_location, or null. Then ends the process with std::abort().
[[noreturn]] COROSCOPE_API void refuse_task(bool is_empty, const void* where) noexcept;

}  // namespace coroscope::detail

#else

namespace coroscope::detail {
inline namespace disabled {

/// The blocking state of sync_wait() without the library.
class sync_wait_state {
public:
    void wait_for_set() noexcept {
        while (__atomic_load_n(&done_, __ATOMIC_ACQUIRE) == 0)  // pairs with set_and_wake()
            ::syscall(SYS_futex, &done_, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
    }
    /// The object may be destroyed as soon as the word is set: the wake-up uses only its address.
    void set_and_wake() noexcept {
        int* const word = &done_;
        __atomic_store_n(word, 1, __ATOMIC_RELEASE);  // pairs with wait_for_set()
        ::syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }

private:
    int done_ = 0;
};

[[noreturn]] inline void refuse_task(bool is_empty, const void*) noexcept {
    constexpr char empty[] = "coroscope: an empty task is awaited\n";
    constexpr char again[] = "coroscope: a task is awaited a second time\n";
    if ((is_empty ? ::write(2, empty, sizeof empty - 1) : ::write(2, again, sizeof again - 1)) < 0)
        __builtin_abort();
    __builtin_abort();
}

}  // namespace disabled
}  // namespace coroscope::detail

#endif

namespace coroscope {
namespace detail {

inline namespace COROSCOPE_ABI {

/// The awaiter of a task: the coroutine to resume, and its state if it is a task itself.
struct continuation {
    std::coroutine_handle<> handle = std::noop_coroutine();
    task_state* task = nullptr;
};

/// The initial suspension. The task waits for its awaiter. An awaiter that is a task records that
/// this one runs.
struct task_initial_awaiter : std::suspend_always {
    void coroscope_child() const noexcept {}
};

/// The final suspension. Resumes the awaiter; if both are tasks, in one recorded moment.
class task_final_awaiter {
public:
    constexpr bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
        return ended.promise().next.handle;
    }
    void await_resume() const noexcept {}

    /// Marks this awaiter as one with both sides instrumented.
    void coroscope_child() const noexcept {}
    template <class Promise>
    std::coroutine_handle<> coroscope_finish(const Promise& ended,
                                             task_state& finished) const noexcept {
        const continuation next = ended.next;
        detail::finish_and_resume(finished, next.task);
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

    /// The type that a braced list in co_return initialises.
    using coroscope_result = T;

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
            ::new (static_cast<void*>(__builtin_addressof(value_)))
                stored(__builtin_addressof(value));
        } else {
            ::new (static_cast<void*>(__builtin_addressof(value_)))
                stored(static_cast<Value&&>(value));
        }
        state_ = state::value;
    }
    T result() {
        if (state_ == state::error) std::rethrow_exception(error_);
        if constexpr (std::is_reference_v<T>) {
            return static_cast<T>(*value_);
        } else {
            return detail::moved(value_);
        }
    }

private:
    enum class state : unsigned char { nothing, value, error };
    using stored = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>;

    // After its co_return a coroutine destroys its local objects. If a destructor throws, the
    // exception replaces the result, or a handler in the coroutine returns another result. The
    // first result must then be dropped.
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

    /// In debug builds (without NDEBUG), ends the process if the task is empty or has finished.
    void expect_startable([[maybe_unused]] const void* where) const noexcept {
#ifndef NDEBUG
        if (!frame_ || frame_.done()) detail::refuse_task(!frame_, where);
#endif
    }

    /// For an awaiting coroutine that is not a task, and for programs without the profiler. The
    /// default argument is the location of the await expression.
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter,
                                          const void* here = COROSCOPE_DETAIL_HERE) const noexcept {
        expect_startable(here);
        frame_.promise().next.handle = awaiter;
        return frame_;
    }

#if COROSCOPE_ENABLED
    void coroscope_child() const noexcept {}
    /// For an instrumented awaiting coroutine: both tasks change places in one recorded moment.
    template <class Handle, class Place>
    std::coroutine_handle<> coroscope_transfer(Handle awaiter, task_state& awaiter_task,
                                               const Place& place) const noexcept {
        using promise = coroscope::instrumented<task_promise<T>>;
        const void* where = place.location();
        expect_startable(where != nullptr ? where : awaiter_task.where);
        const handle awaited = frame_;
        auto& child =
            detail::state_of_task(std::coroutine_handle<promise>::from_address(awaited.address()));
        continuation& next = awaited.promise().next;
        next.handle = awaiter;
        // Keeps the two stores apart: g++ would gather both values in a vector register first,
        // which is slower.
        __asm__ volatile("" : "+m"(next.handle));
        next.task = &awaiter_task;
        place.transfer(awaiter_task, child);
        return awaited;
    }
#endif

private:
    handle frame_;
};

/// The coroutine behind sync_wait(): awaits, keeps the result and sets the state. It is not a task.
template <class Result>
class sync_waiter {
    static constexpr bool has_value = !std::is_void_v<Result>;
    using value = std::conditional_t<has_value, std::remove_reference_t<Result>, char>;

    struct notify {
        bool await_ready() const noexcept { return false; }
        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> self) const noexcept {
            self.promise().done->set_and_wake();
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
        /// The result stays in the await expression, because the coroutine stays suspended there.
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
        promise.done->wait_for_set();
        if (promise.error) std::rethrow_exception(promise.error);
        if constexpr (has_value) return static_cast<Result&&>(*promise.result);
    }

private:
    std::coroutine_handle<promise_type> frame_;
};

template <class Awaitable>
using await_result = decltype(detail::resume_value(
    std::declval<std::add_lvalue_reference_t<awaiter_of<Awaitable>>>()));

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
