// SPDX-License-Identifier: Apache-2.0
#pragma once

// future, shared_future and promise: drop-in replacements for the standard library's, built on its
// futures. The producer itself reports the completion of a future. A range can therefore end with
// it (future_adaptor.hpp), and a coroutine can await it, without polling and without a waiting
// thread.
//
//   coroscope::promise<int> answer;
//   coroscope::future<int> pending = answer.get_future();
//   … answer.set_value(42) …                 // ranges end, the future is ready, awaiters run on
//   int value = co_await std::move(pending);        // or pending.get(), as usual
//
// Each is-a std::future or std::shared_future, has the same thread-safety, and may be passed as
// one. A future that was converted to a plain std::future can no longer be awaited or take a range.
// If a thread waits in get(), wait(), wait_for() or wait_until(), the wait and the producer are
// recorded, as for a resource (resource.hpp). Through a reference to std::future they are not.
// The producing call resumes an awaiting coroutine on its own thread. If the future is ready, the
// coroutine does not suspend. A result that becomes ready at the thread's exit ends its ranges when
// it is set, and resumes awaiters at the exit. A coroutine may be destroyed while it awaits, but,
// like any coroutine, not while it is being resumed.
//
// packaged_task.hpp and async.hpp have the other two producers. With COROSCOPE_ENABLED=0 all of
// this still works.

#include <chrono>
#include <coroutine>
#include <future>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <coroscope/config.hpp>
#include <coroscope/detail/completion.hpp>
#include <coroscope/detail/joiner.hpp>
#include <coroscope/future_adaptor.hpp>

namespace coroscope {
namespace detail {

/// Returns whether the result is available or deferred. A deferred result is produced by the
/// waiting thread itself.
template <class Future>
bool ready_or_deferred(const Future& future) {
    return future.wait_for(std::chrono::seconds(0)) != std::future_status::timeout;
}

inline bool is_produced(const completion_ptr& completed) noexcept {
    return completed && completed->before.closed();
}

/// Calls `wait()`, in which this thread waits for the future, and returns its result. Records the
/// wait if the future is not ready yet.
template <class Future, class Wait>
std::future_status wait_on_thread(const Future& future, const completion_ptr& completed,
                                  Wait&& wait) {
    if (!completed || !future.valid() || detail::ready_or_deferred(future)) return wait();
    const begun_resource_wait begun = detail::begin_result_wait(*completed);
    const std::future_status status = wait();
    const bool ready = status == std::future_status::ready;
    if (begun.start != 0)
        detail::end_resource_wait(completed->result, begun,
                                  ready ? wait_end::shared : wait_end::gave_up);
    return status;
}

/// A future of the standard library with its completion, and with waiting functions that record the
/// waits of threads.
template <class Standard>
class completed_future : public Standard {
public:
    void wait() const {
        detail::wait_on_thread(standard(), completed_, [this] {
            standard().wait();
            return std::future_status::ready;
        });
    }
    template <class Rep, class Period>
    std::future_status wait_for(const std::chrono::duration<Rep, Period>& time) const {
        if (time <= time.zero()) return standard().wait_for(time);
        return detail::wait_on_thread(standard(), completed_,
                                      [&] { return standard().wait_for(time); });
    }
    template <class Clock, class Duration>
    std::future_status wait_until(const std::chrono::time_point<Clock, Duration>& time) const {
        return detail::wait_on_thread(standard(), completed_,
                                      [&] { return standard().wait_until(time); });
    }

    const completion_ptr& coroscope_completion() const noexcept { return completed_; }

protected:
    completed_future() noexcept = default;
    completed_future(Standard&& state, completion_ptr completed) noexcept
        : Standard(std::move(state)), completed_(std::move(completed)) {}

    const Standard& standard() const noexcept { return *this; }
    Standard& standard() noexcept { return *this; }
    completion_ptr take_completion() noexcept { return std::move(completed_); }

private:
    completion_ptr completed_;
};

/// The awaiter of a future, which must stay in place until the end of the await expression.
template <class Future>
class future_awaiter {
public:
    future_awaiter(Future& awaited, const completion_ptr& completed) noexcept
        : future_(__builtin_addressof(awaited)), completed_(completed) {}
    future_awaiter(const future_awaiter&) = delete;
    future_awaiter& operator=(const future_awaiter&) = delete;
    ~future_awaiter() {
        if (waiting_ != nullptr) waiting_->forget();
    }

    bool await_ready() const {
        return !completed_ || !future_->valid() || detail::ready_or_deferred(*future_);
    }

    bool await_suspend(std::coroutine_handle<> waiter) {
        waiting_ = new (std::nothrow) waiting_coroutine(waiter);
        if (waiting_ == nullptr) return false;  // without memory it blocks in await_resume
        if (completed_->after.add(*waiting_))
            return true;  // the coroutine may run on another thread by now
        delete std::exchange(waiting_, nullptr);
        return false;
    }

    decltype(auto) await_resume() const { return future_->get(); }

private:
    Future* future_;
    completion_ptr completed_;
    waiting_coroutine* waiting_ = nullptr;
};

}  // namespace detail

template <class T>
class shared_future;

/// A std::future that reports its completion. An await takes the value, as get() does.
template <class T>
class [[nodiscard]] future : public detail::completed_future<std::future<T>> {
    using base = detail::completed_future<std::future<T>>;

public:
    future() noexcept = default;
    future(future&&) noexcept = default;
    future& operator=(future&& other) noexcept {
        future taken(std::move(other));
        swap(taken);
        return *this;
    }
    /// A future of async() waits for its thread, as the standard library's does.
    ~future() { worker_.leave(this->valid() || detail::is_produced(this->coroscope_completion())); }

    shared_future<T> share() noexcept { return shared_future<T>(std::move(*this)); }

    T get() {
        this->wait();
        return this->standard().get();
    }

    auto operator co_await() && { return await(); }
    auto operator co_await() & { return await(); }

    /// For producers: takes their std::future, and the completion that they must close when it
    /// completes.
    future(std::future<T>&& state, detail::completion_ptr completed,
           detail::joiner_ptr worker = {}) noexcept
        : base(std::move(state), std::move(completed)), worker_(std::move(worker)) {}

private:
    friend class shared_future<T>;
    auto await() {
        return detail::future_awaiter<std::future<T>>(*this, this->coroscope_completion());
    }
    void swap(future& other) noexcept {
        std::swap(static_cast<base&>(*this), static_cast<base&>(other));
        std::swap(worker_, other.worker_);
    }

    detail::joiner_ptr worker_;
};

/// A std::shared_future that reports its completion. An await returns the same as get(); the
/// reference is valid while a copy of the future lives.
template <class T>
class shared_future : public detail::completed_future<std::shared_future<T>> {
    using base = detail::completed_future<std::shared_future<T>>;

public:
    shared_future() noexcept = default;
    shared_future(const shared_future&) = default;
    shared_future(shared_future&&) noexcept = default;
    shared_future& operator=(shared_future other) noexcept {
        std::swap(static_cast<base&>(*this), static_cast<base&>(other));
        std::swap(worker_, other.worker_);
        return *this;
    }
    shared_future(future<T>&& other) noexcept
        : base(std::shared_future<T>(std::move(other.standard())), other.take_completion()),
          worker_(std::move(other.worker_)) {}
    ~shared_future() {
        worker_.leave(this->valid() || detail::is_produced(this->coroscope_completion()));
    }

    decltype(auto) get() const {
        this->wait();
        return this->standard().get();
    }

    auto operator co_await() const& {
        return detail::future_awaiter<const std::shared_future<T>>(*this,
                                                                   this->coroscope_completion());
    }

private:
    detail::joiner_ptr worker_;
};

template <class T>
struct future_adaptor<future<T>> {
    static future<T> attach(future<T>&& awaited, range_end end) {
        if (const auto& completed = awaited.coroscope_completion())
            std::move(end).add_to(completed->before);
        return std::move(awaited);
    }
};

template <class T>
struct future_adaptor<shared_future<T>> {
    static shared_future<T> attach(shared_future<T>&& awaited, range_end end) {
        if (const auto& completed = awaited.coroscope_completion())
            std::move(end).add_to(completed->before);
        return std::move(awaited);
    }
};

/// A std::promise that reports its completion. It ends the attached ranges just before it makes its
/// future ready, and resumes the awaiters just after. If it is destroyed without a value, its
/// future gets broken_promise.
template <class T>
class promise {
    struct no_value {};
    using value = std::conditional_t<std::is_object_v<T>, T, no_value>;
    using reference = std::conditional_t<std::is_reference_v<T>, T, no_value&>;

public:
    promise() = default;
    template <class Allocator>
    promise(std::allocator_arg_t tag, const Allocator& allocator) : state_(tag, allocator) {}
    promise(promise&& other) noexcept
        : state_(std::move(other.state_)),
          completed_(std::move(other.completed_)),
          at_exit_(std::exchange(other.at_exit_, false)) {}
    promise& operator=(promise&& other) noexcept {
        promise(std::move(other)).swap(*this);
        return *this;
    }
    ~promise() {
        if (!completed_) return;
        completed_->close_before();
        {
            const std::promise<T> broken(std::move(state_));
        }
        if (!at_exit_) completed_->after.try_close();
    }
    void swap(promise& other) noexcept {
        state_.swap(other.state_);
        std::swap(completed_, other.completed_);
        std::swap(at_exit_, other.at_exit_);
    }

    future<T> get_future() { return future<T>(state_.get_future(), completed_); }

    void set_value(const value& given)
        requires std::is_object_v<T>
    {
        // Copies that may throw come before the end of the range.
        if constexpr (!std::is_nothrow_copy_constructible_v<T> && std::is_move_constructible_v<T>) {
            set_value(value(given));
        } else {
            detail::complete(completed_, [&] { state_.set_value(given); });
        }
    }
    void set_value(value&& given)
        requires std::is_object_v<T>
    {
        detail::complete(completed_, [&] { state_.set_value(std::move(given)); });
    }
    void set_value(reference given)
        requires std::is_reference_v<T>
    {
        detail::complete(completed_, [&] { state_.set_value(given); });
    }
    void set_value()
        requires std::is_void_v<T>
    {
        detail::complete(completed_, [&] { state_.set_value(); });
    }
    void set_exception(std::exception_ptr error) {
        detail::complete(completed_, [&] { state_.set_exception(std::move(error)); });
    }

    void set_value_at_thread_exit(const value& given)
        requires std::is_object_v<T>
    {
        at_exit([&] { state_.set_value_at_thread_exit(given); });
    }
    void set_value_at_thread_exit(value&& given)
        requires std::is_object_v<T>
    {
        at_exit([&] { state_.set_value_at_thread_exit(std::move(given)); });
    }
    void set_value_at_thread_exit(reference given)
        requires std::is_reference_v<T>
    {
        at_exit([&] { state_.set_value_at_thread_exit(given); });
    }
    void set_value_at_thread_exit()
        requires std::is_void_v<T>
    {
        at_exit([&] { state_.set_value_at_thread_exit(); });
    }
    void set_exception_at_thread_exit(std::exception_ptr error) {
        at_exit([&] { state_.set_exception_at_thread_exit(std::move(error)); });
    }

private:
    template <class Set>
    void at_exit(Set&& set) {
        if (completed_) completed_->close_before();
        set();
        at_exit_ = true;
        detail::close_at_thread_exit(completed_);
    }

    std::promise<T> state_;
    detail::completion_ptr completed_{new detail::completion};
    bool at_exit_ = false;
};

template <class T>
void swap(promise<T>& left, promise<T>& right) noexcept {
    left.swap(right);
}

}  // namespace coroscope
