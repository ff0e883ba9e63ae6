// SPDX-License-Identifier: Apache-2.0
#pragma once

// packaged_task: a drop-in replacement for std::packaged_task, whose future can end a range and be
// awaited (future.hpp). Its ranges end when the function has returned or thrown, just before the
// future is ready. A callable may be move-only. Like the standard library's, it is not thread-safe.

#include <future>
#include <tuple>
#include <type_traits>
#include <utility>

#include <coroscope/future.hpp>

namespace coroscope {

template <class Signature>
class packaged_task;

/// A std::packaged_task that reports its completion; see above. Errors are those of the standard
/// library's.
template <class Result, class... Arguments>
class packaged_task<Result(Arguments...)> {
public:
    packaged_task() noexcept = default;
    template <class Function>
        requires(!std::is_same_v<std::decay_t<Function>, packaged_task>)
    explicit packaged_task(Function&& function)
        : task_(produced<std::decay_t<Function>>(static_cast<Function&&>(function))),
          completed_(new detail::completion) {}
    packaged_task(packaged_task&& other) noexcept
        : task_(std::move(other.task_)),
          completed_(std::move(other.completed_)),
          at_exit_(std::exchange(other.at_exit_, false)) {}
    packaged_task& operator=(packaged_task&& other) noexcept {
        packaged_task(std::move(other)).swap(*this);
        return *this;
    }
    ~packaged_task() {
        if (!completed_ || at_exit_) return;
        completed_->close_before();
        task_ = {};
        completed_->after.try_close();
    }

    void swap(packaged_task& other) noexcept {
        task_.swap(other.task_);
        std::swap(completed_, other.completed_);
        std::swap(at_exit_, other.at_exit_);
    }
    bool valid() const noexcept { return task_.valid(); }
    future<Result> get_future() { return future<Result>(task_.get_future(), completed_); }

    void operator()(Arguments... arguments) {
        const detail::completion_ptr held =
            completed_;  // the task may be destroyed once the result is ready
        task_(held.get(), std::forward<Arguments>(arguments)...);
        held->after.try_close();
    }
    void make_ready_at_thread_exit(Arguments... arguments) {
        const detail::completion_ptr held = completed_;
        task_.make_ready_at_thread_exit(held.get(), std::forward<Arguments>(arguments)...);
        at_exit_ = true;
        detail::close_at_thread_exit(held);
    }

    /// Prepares another call and another future. The earlier future gets broken_promise if the task
    /// was not called.
    void reset() {
        detail::completion_ptr next(new detail::completion);
        if (!at_exit_ && completed_) completed_->close_before();
        task_.reset();
        if (!at_exit_ && completed_) completed_->after.try_close();
        completed_ = std::move(next);
        at_exit_ = false;
    }

private:
    template <class Function>
    class produced {
    public:
        template <class Given>
        explicit produced(Given&& function) : function_(static_cast<Given&&>(function)) {}
        Result operator()(detail::completion* completed, Arguments... arguments) {
            const detail::producing guard(*completed);
            // std::apply calls everything that std::invoke does, and <future> includes it.
            const auto call = [&]() -> decltype(auto) {
                return std::apply(function_,
                                  std::forward_as_tuple(std::forward<Arguments>(arguments)...));
            };
            if constexpr (std::is_void_v<Result>)
                static_cast<void>(call());
            else
                return call();
        }

    private:
        Function function_;
    };

    std::packaged_task<Result(detail::completion*, Arguments...)> task_;
    detail::completion_ptr completed_;
    bool at_exit_ = false;
};

template <class Result, class... Arguments>
void swap(packaged_task<Result(Arguments...)>& left,
          packaged_task<Result(Arguments...)>& right) noexcept {
    left.swap(right);
}

namespace detail {
template <class Task>
struct signature_of;
template <class Signature>
struct signature_of<std::packaged_task<Signature>> {
    using type = Signature;
};
}  // namespace detail

template <class Function>
packaged_task(Function) -> packaged_task<
    typename detail::signature_of<decltype(std::packaged_task(std::declval<Function>()))>::type>;

}  // namespace coroscope
