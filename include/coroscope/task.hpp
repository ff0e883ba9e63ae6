// SPDX-License-Identifier: Apache-2.0
#pragma once

// task<T>: a lazy coroutine that is a task of the profiler. It starts when it is awaited, resumes its
// awaiter by symmetric transfer when it ends, and hands over value, reference or exception.
// sync_wait() runs one from ordinary code and blocks until it is done.
//
// A task is awaited at most once, from a coroutine or sync_wait(); it is movable and owns its frame:
// destroying it while it is suspended destroys the frame, and it shows as abandoned.
// With COROSCOPE_ENABLED=0 it is the same coroutine type without the profiler.

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
        if (this != &other) {
            destroy();
            frame_ = detail::taken(other.frame_);
        }
        return *this;
    }
    task(const task&) = delete;
    task& operator=(const task&) = delete;
    ~task() { destroy(); }

    /// Does it hold a coroutine?
    bool valid() const noexcept { return static_cast<bool>(frame_); }
    /// Has it run to its end? Precondition: valid().
    bool done() const noexcept { return frame_.done(); }

    /// Starts the coroutine; gives its result, or throws what left it. Precondition: valid(), not
    /// awaited before.
    auto operator co_await() && noexcept { return detail::task_awaiter<T>(frame_); }
    auto operator co_await() & noexcept { return detail::task_awaiter<T>(frame_); }

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

/// Runs an awaitable to its end on the calling thread (and whatever threads it moves to) and returns
/// its result or throws what left it. Blocks the calling thread.
template <class Awaitable>
decltype(auto) sync_wait(Awaitable&& awaitable) {
    detail::sync_wait_state done;
    auto waiter = detail::wait_for(static_cast<Awaitable&&>(awaitable), done);
    return waiter.run();
}

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
