// SPDX-License-Identifier: Apache-2.0
#pragma once

// The awaiters of an instrumented coroutine. Each forwards to the one that the coroutine would have
// used, records the suspension before the inner await_suspend and takes it back when that returns
// false or throws. After the inner call the coroutine may already run on another thread or be
// destroyed: only locals are touched from there on.

#include <coroutine>
#include <type_traits>

#include <coroscope/detail/awaiter.hpp>
#include <coroscope/detail/location.hpp>
#include <coroscope/detail/task_state.hpp>

namespace coroscope::detail {

/// Awaiters of our own task<T>, where we own both sides of the hand-over.
template <class Awaiter>
concept owned_awaiter = requires(Awaiter& awaiter) { awaiter.coroscope_child(); };

/// Awaiters that are told of a suspension just before it is recorded: that of the task whose coroutine awaits them.
template <class Awaiter>
concept told_of_suspension =
    requires(Awaiter& awaiter, const task_state& task) { awaiter.coroscope_suspends(task); };

/// Ends a suspension's inner call: where that threw or returned false, the task runs on.
class suspension {
public:
    suspension(task_state& task, task_link& link, const departure& leaving, bool active) noexcept
        : task_(&task), link_(&link), leaving_(&leaving), active_(active) {}
    suspension(const suspension&) = delete;
    suspension& operator=(const suspension&) = delete;
    ~suspension() {
        if (task_ == nullptr) [[likely]]
            return;
        link_->untie();
        if (active_) cancel_active(*task_, leaving_->before);
    }
    void done() noexcept { task_ = nullptr; }

private:
    task_state* task_;
    task_link* link_;
    const departure* leaving_;
    bool active_;
};

/// Calls the inner await_suspend between the task's suspension and the thread's return to what it did before.
template <class Promise, class Awaiter, class Handle>
auto suspend_in(Awaiter& awaiter, Handle handle, task_link& link, const void* where) {
    const auto theirs = std::coroutine_handle<Promise>::from_address(handle.address());
    using outcome = decltype(awaiter.await_suspend(theirs));
    task_state& task = handle.promise().coroscope_task();
    if constexpr (told_of_suspension<Awaiter>) awaiter.coroscope_suspends(task);
    departure leaving;  // apart from the rest, which may then stay in registers
    const bool active = suspend_task(task, where, leaving);
    suspension suspended(task, link, leaving, active);
    if constexpr (std::is_void_v<outcome>) {
        awaiter.await_suspend(theirs);
        suspended.done();
        if (active) [[unlikely]]
            restore(leaving.before);
    } else if constexpr (std::is_same_v<outcome, bool>) {
        const bool stays = awaiter.await_suspend(theirs);
        if (!stays) return stays;
        suspended.done();
        if (active) [[unlikely]]
            restore(leaving.before);
        return stays;
    } else {
        auto next = awaiter.await_suspend(theirs);
        suspended.done();
        if (active) [[unlikely]] {
            restore(leaving.before);
            expect_handover(next.address(), leaving.ticks);
        }
        return unforeseen(next);
    }
}

/// The link of an awaiter that has none.
struct no_link {
    explicit no_link(const task_place&) noexcept {}
    static void untie() noexcept {}
};

/// How it is known where an await stands: from itself, or by a label whose site is in the task's state already.
enum class await_place : bool { here, labelled };

/// Around the awaiter of one co_await or co_yield. `Slot` keeps the awaiter.
template <class Promise, class Slot, await_place Place = await_place::here>
class instrumented_awaiter {
public:
    template <class Operand>
    instrumented_awaiter(const task_place& task, Operand&& operand)
        : slot_(static_cast<Operand&&>(operand)), link_(task) {}
    instrumented_awaiter(const instrumented_awaiter&) = delete;
    instrumented_awaiter& operator=(const instrumented_awaiter&) = delete;

    bool await_ready() {
        const bool ready = static_cast<bool>(slot_.awaiter().await_ready());
        if (ready) link_.untie();
        return ready;
    }

    // The default argument is that of the coroutine's own call, and so tells where the await expression stands.
    template <class Handle>
    COROSCOPE_DETAIL_APART auto await_suspend(Handle handle,
                                              const void* here = COROSCOPE_DETAIL_HERE) {
        const void* where = Place == await_place::here ? here : nullptr;
        if constexpr (owned) {
            return slot_.awaiter().coroscope_transfer(handle, handle.promise().coroscope_task(),
                                                      where);
        } else {
            return suspend_in<Promise>(slot_.awaiter(), handle, link_, where);
        }
    }

    decltype(auto) await_resume() {
        // Where both sides are ours, whoever handed back has told that the task runs.
        if constexpr (!owned) {
            if (link_.is_tied()) resume_task(link_.task());
        }
        return resume_value(slot_.awaiter());
    }

private:
    static constexpr bool owned =
        owned_awaiter<std::remove_reference_t<decltype(std::declval<Slot&>().awaiter())>>;

    [[no_unique_address]] Slot slot_;
    [[no_unique_address]] std::conditional_t<owned, no_link, task_link> link_;
};

/// The initial suspension: where the task is spawned, and where it first runs.
template <class Promise, class Slot>
class initial_awaiter {
public:
    template <class Make>
    initial_awaiter(const task_place& task, Make&& make)
        : slot_(static_cast<Make&&>(make)), link_(task) {
        const readiness<inner> starts(slot_.awaiter());
        spawn_task(*task.state, starts.is_ready());
        if (starts.is_ready()) link_.untie();
    }
    initial_awaiter(const initial_awaiter&) = delete;
    initial_awaiter& operator=(const initial_awaiter&) = delete;

    bool await_ready() const noexcept {
        if constexpr (never_suspends || always_suspends) {
            return never_suspends;
        } else {
            return !link_.is_tied();
        }
    }

    template <class Handle>
    COROSCOPE_DETAIL_APART auto await_suspend(Handle handle) {
        const auto theirs = std::coroutine_handle<Promise>::from_address(handle.address());
        if constexpr (std::is_void_v<decltype(slot_.awaiter().await_suspend(theirs))>) {
            slot_.awaiter().await_suspend(theirs);
        } else {
            return unforeseen(slot_.awaiter().await_suspend(theirs));
        }
    }

    decltype(auto) await_resume() {
        if constexpr (!never_suspends) {
            if (always_suspends || link_.is_tied()) start(link_.task());
        }
        return resume_value(slot_.awaiter());
    }

private:
    using inner = std::remove_reference_t<decltype(std::declval<Slot&>().awaiter())>;

    // Where both sides are ours, whoever hands over tells that the task runs.
    static void start(task_state& task) noexcept {
        if constexpr (!owned_awaiter<inner>) {
            start_task(task);
        } else if ((task.flags & task_started) == 0) [[unlikely]] {
            start_untold(task);
        }
    }

    static constexpr bool never_suspends = readiness<inner>::always;
    static constexpr bool always_suspends = readiness<inner>::never;

    [[no_unique_address]] Slot slot_;
    [[no_unique_address]] std::conditional_t<never_suspends, no_link, task_link> link_;
};

/// The final suspension: the task's end. Whatever the inner await_suspend resumes or destroys, the
/// thread has left the task when it returns.
template <class Promise, class Slot>
class final_awaiter {
public:
    template <class Make>
    final_awaiter(task_state& task, Make&& make) noexcept
        : slot_(static_cast<Make&&>(make)), falls_through_(slot_.awaiter()) {
        if (falls_through_.is_ready()) end_task(task);
    }
    final_awaiter(const final_awaiter&) = delete;
    final_awaiter& operator=(const final_awaiter&) = delete;

    bool await_ready() const noexcept { return falls_through_.is_ready(); }

    template <class Handle>
    COROSCOPE_DETAIL_APART auto await_suspend(Handle handle) noexcept {
        const auto theirs = std::coroutine_handle<Promise>::from_address(handle.address());
        auto& awaiter = slot_.awaiter();
        using outcome = decltype(awaiter.await_suspend(theirs));
        task_state& task = handle.promise().coroscope_task();
        if constexpr (owned_awaiter<std::remove_reference_t<decltype(awaiter)>>) {
            return awaiter.coroscope_finish(theirs.promise(), task);
        } else if constexpr (std::is_void_v<outcome>) {
            departure leaving;
            const bool active = finish_task(task, leaving);
            awaiter.await_suspend(theirs);
            if (active) [[unlikely]]
                restore(leaving.before);
        } else {
            departure leaving;
            const bool active = finish_task(task, leaving);
            auto next = awaiter.await_suspend(theirs);
            if (active) [[unlikely]]
                restore(leaving.before);
            if constexpr (!std::is_same_v<outcome, bool>) {
                if (active) [[unlikely]]
                    expect_handover(next.address(), leaving.ticks);
            }
            return next;
        }
    }

    void await_resume() noexcept { resume_value(slot_.awaiter()); }

private:
    using inner = std::remove_reference_t<decltype(std::declval<Slot&>().awaiter())>;

    [[no_unique_address]] Slot slot_;
    [[no_unique_address]] readiness<inner> falls_through_;
};

}  // namespace coroscope::detail
