// SPDX-License-Identifier: Apache-2.0
#pragma once

// task<T>: a lazy coroutine that is a task of the profiler. It starts when it is awaited. When the
// task ends, it passes its value, reference or exception to its awaiter, and resumes the awaiter by
// symmetric transfer. sync_wait() runs a task from a function that is not a coroutine, and blocks
// until the task is done.
//
// A task must be awaited at most once, from a coroutine or from sync_wait(). Debug builds (without
// NDEBUG) end the process with one line on stderr if an empty or finished task is awaited. A task
// object is movable and owns the coroutine's frame. If the object is destroyed while the coroutine
// is suspended, it destroys the frame. The trace shows a coroutine that was destroyed in this way
// as abandoned, or as cancelled if it never started.
//
// Not thread-safe: only one thread at a time may use a task. With COROSCOPE_ENABLED=0, task<T> is
// the same coroutine type without the profiler.

#include <coroutine>
#include <exception>
#include <new>
#include <type_traits>

#include <coroscope/config.hpp>
#include <coroscope/detail/hand_over.hpp>
#include <coroscope/detail/task_promise.hpp>
#include <coroscope/instrumented.hpp>

namespace coroscope {
inline namespace COROSCOPE_ABI {

/// A lazy coroutine of the profiler; see above. `T` may be void or a reference.
template <class T = void>
class [[nodiscard]] task {
public:
#if COROSCOPE_ENABLED
    using promise_type = instrumented<detail::task_promise<T>>;
#else
    using promise_type = detail::task_promise<T>;
#endif

    task() noexcept = default;
    task(task&& other) noexcept : frame_(detail::taken(other.frame_)) {}
    task& operator=(task&& other) noexcept {
        if (this != __builtin_addressof(other)) {
            destroy();
            frame_ = detail::taken(other.frame_);
        }
        return *this;
    }
    task(const task&) = delete;
    task& operator=(const task&) = delete;
    ~task() { destroy(); }

    /// Returns whether the object holds a coroutine.
    bool valid() const noexcept { return static_cast<bool>(frame_); }
    /// Returns whether the coroutine has run to its end. The task must be valid().
    bool done() const noexcept { return frame_.done(); }

    /// Starts the coroutine and returns its result, or throws the exception that left it. The task
    /// must be valid() and must not have been awaited before.
    auto operator co_await() && noexcept { return detail::task_awaiter<T>(frame_); }
    auto operator co_await() & noexcept { return detail::task_awaiter<T>(frame_); }

    /// In debug builds, ends the process if the task cannot be awaited. `where` is the address of a
    /// source_location.
    void coroscope_expect_startable(const void* where) const noexcept {
        detail::task_awaiter<T>(frame_).expect_startable(where);
    }

private:
    friend detail::task_promise<T>;
    explicit task(std::coroutine_handle<detail::task_promise<T>> frame) noexcept : frame_(frame) {}

    void destroy() noexcept {
        if (frame_) frame_.destroy();
        frame_ = nullptr;
    }

    std::coroutine_handle<detail::task_promise<T>> frame_;
};

}  // namespace COROSCOPE_ABI

namespace detail {
inline namespace COROSCOPE_ABI {
template <class T>
task<T> task_promise<T>::get_return_object() noexcept {
    return task<T>(std::coroutine_handle<task_promise<T>>::from_promise(*this));
}
inline task<void> task_promise<void>::get_return_object() noexcept {
    return task<void>(std::coroutine_handle<task_promise<void>>::from_promise(*this));
}
}  // namespace COROSCOPE_ABI
}  // namespace detail

inline namespace COROSCOPE_ABI {

/// Runs an awaitable to its end and blocks the calling thread meanwhile. The awaitable starts on
/// the calling thread and may continue on others. Returns the awaitable's result, or throws the
/// exception that left the awaitable. `here` is the place of the call. The caller should leave it
/// at its default.
template <class Awaitable>
decltype(auto) sync_wait(Awaitable&& awaitable, const void* here = COROSCOPE_DETAIL_HERE) {
    if constexpr (requires { awaitable.coroscope_expect_startable(here); })
        awaitable.coroscope_expect_startable(here);
    detail::sync_wait_state done;
    auto waiter = detail::wait_for(static_cast<Awaitable&&>(awaitable), done);
    return waiter.run();
}

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
