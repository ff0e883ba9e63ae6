// SPDX-License-Identifier: Apache-2.0
#pragma once

// The awaiters of an instrumented coroutine. Each forwards to the one that the coroutine would have
// used, records the suspension before the inner await_suspend and takes it back when that returns
// false or throws. After the inner call the coroutine may already run on another thread or be
// destroyed: only locals are touched from there on.

#include <coroutine>
#include <type_traits>

#include <coroscope/detail/awaiter.hpp>
#include <coroscope/detail/task_state.hpp>

namespace coroscope::detail {

/// Awaiters of our own task<T>, where we own both sides of the hand-over.
template <class Awaiter>
concept owned_awaiter = requires(Awaiter& awaiter) { awaiter.coroscope_child(); };

/// Ends a suspension's inner call: the thread goes back to what it did before the task, or, where
/// the call threw or returned false, the task runs on.
class suspension {
public:
    explicit suspension(task_state& task) noexcept
        : task_(&task), active_(suspend_task(task, leaving_)) {}
    suspension(const suspension&) = delete;
    suspension& operator=(const suspension&) = delete;
    ~suspension() {
        if (task_ != nullptr) [[unlikely]]
            cancel();
    }

    void done() noexcept {
        task_ = nullptr;
        if (active_) [[unlikely]]
            restore(leaving_.before);
    }
    void done(std::coroutine_handle<> next) noexcept {
        done();
        if (active_) [[unlikely]]
            expect_handover(next.address(), leaving_.ticks);
    }

private:
    void cancel() noexcept {
        task_->suspended = false;
        if (active_) cancel_active(*task_, leaving_.before);
    }

    task_state* task_;
    departure leaving_;  // before what fills it in
    bool active_;
};

template <class Promise, class Awaiter, class Handle>
auto suspend_in(Awaiter& awaiter, Handle handle, task_state& task) {
    const auto theirs = std::coroutine_handle<Promise>::from_address(handle.address());
    using outcome = decltype(awaiter.await_suspend(theirs));
    suspension suspended(task);
    if constexpr (std::is_void_v<outcome>) {
        awaiter.await_suspend(theirs);
        suspended.done();
    } else if constexpr (std::is_same_v<outcome, bool>) {
        const bool stays = awaiter.await_suspend(theirs);
        if (stays) suspended.done();
        return stays;
    } else {
        auto next = awaiter.await_suspend(theirs);
        suspended.done(next);
        return next;
    }
}

/// Around the awaiter of one co_await or co_yield. `Slot` keeps the awaiter.
template <class Promise, class Slot>
class instrumented_awaiter {
public:
    template <class Operand>
    instrumented_awaiter(task_state& task, Operand&& operand)
        : slot_(static_cast<Operand&&>(operand)), task_(&task) {}
    instrumented_awaiter(const instrumented_awaiter&) = delete;
    instrumented_awaiter& operator=(const instrumented_awaiter&) = delete;

    bool await_ready() { return static_cast<bool>(slot_.awaiter().await_ready()); }

    template <class Handle>
    auto await_suspend(Handle handle) {
        auto& awaiter = slot_.awaiter();
        if constexpr (owned_awaiter<std::remove_reference_t<decltype(awaiter)>>) {
            return awaiter.coroscope_transfer(handle, *task_);
        } else {
            return suspend_in<Promise>(awaiter, handle, *task_);
        }
    }

    decltype(auto) await_resume() {
        if (task_->suspended) resume_task(*task_);
        return resume_value(slot_.awaiter());
    }

private:
    [[no_unique_address]] Slot slot_;
    task_state* task_;
};

/// The initial suspension: where the task is spawned, and where it first runs.
template <class Promise, class Slot>
class initial_awaiter {
public:
    template <class Make>
    initial_awaiter(task_state& task, Make&& make)
        : slot_(static_cast<Make&&>(make)), task_(&task) {}
    initial_awaiter(const initial_awaiter&) = delete;
    initial_awaiter& operator=(const initial_awaiter&) = delete;

    bool await_ready() {
        const bool starts = static_cast<bool>(slot_.awaiter().await_ready());
        spawn_task(*task_, starts);
        return starts;
    }

    template <class Handle>
    auto await_suspend(Handle handle) {
        return slot_.awaiter().await_suspend(
            std::coroutine_handle<Promise>::from_address(handle.address()));
    }

    decltype(auto) await_resume() {
        if ((task_->flags & task_started) == 0 || (task_->flags & task_entered) != 0)
            resume_task(*task_);
        return resume_value(slot_.awaiter());
    }

private:
    [[no_unique_address]] Slot slot_;
    task_state* task_;
};

/// The final suspension: the task's end. Whatever the inner await_suspend resumes or destroys, the
/// thread has left the task when it returns.
template <class Promise, class Slot>
class final_awaiter {
public:
    template <class Make>
    final_awaiter(task_state& task, Make&& make) noexcept
        : slot_(static_cast<Make&&>(make)), task_(&task) {}
    final_awaiter(const final_awaiter&) = delete;
    final_awaiter& operator=(const final_awaiter&) = delete;

    bool await_ready() noexcept {
        const bool falls_through = static_cast<bool>(slot_.awaiter().await_ready());
        departure leaving;
        if (falls_through && finish_task(*task_, leaving)) restore(leaving.before);
        return falls_through;
    }

    template <class Handle>
    auto await_suspend(Handle handle) noexcept {
        const auto theirs = std::coroutine_handle<Promise>::from_address(handle.address());
        auto& awaiter = slot_.awaiter();
        using outcome = decltype(awaiter.await_suspend(theirs));
        if constexpr (owned_awaiter<std::remove_reference_t<decltype(awaiter)>>) {
            return awaiter.coroscope_finish(*task_);
        } else if constexpr (std::is_void_v<outcome>) {
            departure leaving;
            const bool active = finish_task(*task_, leaving);
            awaiter.await_suspend(theirs);
            if (active) restore(leaving.before);
        } else {
            departure leaving;
            const bool active = finish_task(*task_, leaving);
            auto next = awaiter.await_suspend(theirs);
            if (active) restore(leaving.before);
            if constexpr (!std::is_same_v<outcome, bool>) {
                if (active) expect_handover(next.address(), leaving.ticks);
            }
            return next;
        }
    }

    void await_resume() noexcept { resume_value(slot_.awaiter()); }

private:
    [[no_unique_address]] Slot slot_;
    task_state* task_;
};

}  // namespace coroscope::detail
