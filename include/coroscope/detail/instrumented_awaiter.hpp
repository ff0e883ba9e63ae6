// SPDX-License-Identifier: Apache-2.0
#pragma once

// The awaiters of an instrumented coroutine. Each forwards to the awaiter that the coroutine would
// have used. It records the suspension before the inner await_suspend, and takes it back if that
// call returns false or throws. After the inner call the coroutine may already run on another
// thread or be destroyed, so the code must touch only locals from there on.

#include <coroutine>
#include <type_traits>

#include <coroscope/detail/awaiter.hpp>
#include <coroscope/detail/exceptions.hpp>
#include <coroscope/detail/instrumented_handle.hpp>
#include <coroscope/detail/location.hpp>
#include <coroscope/detail/task_transitions.hpp>

namespace coroscope::detail {

/// Awaiters of our own task<T>: both sides of the hand-over are instrumented.
template <class Awaiter>
concept owned_awaiter = requires(Awaiter& awaiter) { awaiter.coroscope_child(); };

/// Awaiters with a hook that is called just before the suspension of the awaiting task is recorded.
template <class Awaiter>
concept told_of_suspension =
    requires(Awaiter& awaiter, const task_state& task) { awaiter.coroscope_suspends(task); };

/// Ends the inner call of a suspension. If the call threw or returned false, the task runs on.
class suspension {
public:
    suspension(task_state& task, task_link& link, const departure& leaving,
               departure_kind how) noexcept
        : task_(&task), link_(&link), leaving_(&leaving), how_(how) {}
    suspension(const suspension&) = delete;
    suspension& operator=(const suspension&) = delete;
    ~suspension() {
        if (task_ == nullptr) [[likely]]
            return;
        link_->untie();
        if (how_ == departure_kind::general)
            detail::cancel_active(*task_, leaving_->before);
        else if (how_ == departure_kind::plain)
            detail::cancel_active(*task_, detail::plain_resumer());
    }
    void done() noexcept { task_ = nullptr; }

private:
    task_state* task_;
    task_link* link_;
    const departure* leaving_;
    departure_kind how_;
};

/// Calls the inner await_suspend after the task's suspension and before the thread returns to its
/// previous context.
template <class Promise, class Awaiter, class Handle, class Place>
auto suspend_in(Awaiter& awaiter, Handle handle, task_link& link, const Place& place) {
    const auto theirs = std::coroutine_handle<Promise>::from_address(handle.address());
    using outcome = decltype(awaiter.await_suspend(theirs));
    task_state& task = detail::state_of_task(handle);
    if constexpr (told_of_suspension<Awaiter>) awaiter.coroscope_suspends(task);
    departure leaving;  // a separate object, so that the rest may stay in registers
    const departure_kind how = place.suspend(task, leaving);
    suspension suspended(task, link, leaving, how);
    if constexpr (std::is_void_v<outcome>) {
        awaiter.await_suspend(theirs);
        suspended.done();
        detail::leave_task(how, leaving);
    } else if constexpr (std::is_same_v<outcome, bool>) {
        const bool stays = awaiter.await_suspend(theirs);
        if (!stays) return stays;
        suspended.done();
        detail::leave_task(how, leaving);
        return stays;
    } else {
        auto next = awaiter.await_suspend(theirs);
        suspended.done();
        detail::leave_task_for(how, leaving, next.address());
        return detail::unforeseen(next);
    }
}

/// The link of an awaiter that needs none.
struct no_link {
    explicit no_link(const task_place&) noexcept {}
    static void untie() noexcept {}
};

/// The place of an await: a std::source_location, or a label.
template <class Where>
struct await_place {
    Where where;

    [[nodiscard]] departure_kind suspend(task_state& task, departure& leaving) const noexcept {
        return detail::suspend_task(task, where, leaving);
    }
    /// The std::source_location; null for a label, whose place is in its site.
    [[nodiscard]] const void* location() const noexcept {
        if constexpr (std::is_pointer_v<Where>) return where;
        return nullptr;
    }
    void transfer(task_state& awaiter, task_state& awaited) const noexcept {
        detail::transfer_task(awaiter, awaited, where);
    }
};

/// An await without a label stores nothing of its place before it suspends.
struct no_label {
    static await_place<const void*> place(const void* here) noexcept { return {here}; }
};
/// An await with a label stores the label. It does not store the task: g++ makes all awaiters of an
/// expression before the first await.
struct kept_label {
    site* label;
    [[nodiscard]] await_place<site&> place(const void*) const noexcept { return {*label}; }
};

/// Wraps the awaiter of one co_await or co_yield. `Slot` keeps the awaiter.
template <class Promise, class Slot, class Label = no_label>
class instrumented_awaiter {
public:
    template <class Operand>
    instrumented_awaiter(const task_place& task, Operand&& operand, const Label& label = {})
        : slot_(static_cast<Operand&&>(operand)), label_(label), link_(task) {}
    instrumented_awaiter(const instrumented_awaiter&) = delete;
    instrumented_awaiter& operator=(const instrumented_awaiter&) = delete;

    bool await_ready() {
        const bool ready = static_cast<bool>(slot_.awaiter().await_ready());
        if (ready) link_.untie();
        return ready;
    }

    // The default argument is evaluated in the coroutine's own call, so it is the location of the
    // await expression.
    template <class Handle>
    COROSCOPE_DETAIL_APART auto await_suspend(Handle handle,
                                              const void* here = COROSCOPE_DETAIL_HERE) {
        const auto place = label_.place(here);
        if constexpr (owned) {
            return slot_.awaiter().coroscope_transfer(handle, detail::state_of_task(handle), place);
        } else {
            return detail::suspend_in<Promise>(slot_.awaiter(), handle, link_, place);
        }
    }

    decltype(auto) await_resume() {
        // If both sides are ours, the side that handed back has already recorded that the task
        // runs, and whether an exception ended the other one.
        if constexpr (owned) {
            return detail::resume_value(slot_.awaiter());
        } else {
            const bool suspended = link_.is_tied();
            if (suspended) detail::resume_task(link_.task());
            if constexpr (noexcept(detail::resume_value(slot_.awaiter()))) {
                return detail::resume_value(slot_.awaiter());
            } else {
                COROSCOPE_DETAIL_TRY { return detail::resume_value(slot_.awaiter()); }
                COROSCOPE_DETAIL_CATCH(...) {
                    if (suspended && detail::load_gate() != 0) detail::await_threw(link_.task());
                    COROSCOPE_DETAIL_RETHROW;
                }
            }
        }
    }

private:
    static constexpr bool owned =
        owned_awaiter<std::remove_reference_t<decltype(std::declval<Slot&>().awaiter())>>;

    [[no_unique_address]] Slot slot_;
    [[no_unique_address]] Label label_;
    [[no_unique_address]] std::conditional_t<owned, no_link, task_link> link_;
};

/// The initial suspension: it spawns the task and records the task's first run.
template <class Promise, class Slot>
class initial_awaiter {
public:
    template <class Make>
    initial_awaiter(const task_place& task, Make&& make)
        : slot_(static_cast<Make&&>(make)), link_(task) {
        const readiness<inner> starts(slot_.awaiter());
        detail::spawn_task(*task.state, starts.is_ready());
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
            return detail::unforeseen(slot_.awaiter().await_suspend(theirs));
        }
    }

    decltype(auto) await_resume() {
        if constexpr (!never_suspends) {
            if (always_suspends || link_.is_tied()) start(link_.task());
        }
        return detail::resume_value(slot_.awaiter());
    }

private:
    using inner = std::remove_reference_t<decltype(std::declval<Slot&>().awaiter())>;

    // A task<T> is started by an awaiter of ours, which has already recorded that the task runs.
    static void start(task_state& task) noexcept {
        if constexpr (!owned_awaiter<inner>) {
            detail::start_task(task);
        } else if ((task.flags & task_started) == 0) [[unlikely]] {
            detail::start_untold(task);
        }
    }

    static constexpr bool never_suspends = readiness<inner>::always;
    static constexpr bool always_suspends = readiness<inner>::never;

    [[no_unique_address]] Slot slot_;
    [[no_unique_address]] std::conditional_t<never_suspends, no_link, task_link> link_;
};

/// The final suspension: the end of the task. Whatever the inner await_suspend resumes or destroys,
/// the thread has left the task when that call returns.
template <class Promise, class Slot>
class final_awaiter {
public:
    template <class Make>
    final_awaiter(task_state& task, Make&& make) noexcept
        : slot_(static_cast<Make&&>(make)), falls_through_(slot_.awaiter()) {
        if (falls_through_.is_ready()) detail::end_task(task);
    }
    final_awaiter(const final_awaiter&) = delete;
    final_awaiter& operator=(const final_awaiter&) = delete;

    bool await_ready() const noexcept {
        bool ready = falls_through_.is_ready();
#if defined(__clang__)
        // Clang treats a coroutine that cannot suspend as a function and does not take its frame
        // from operator new. The place of the frame would then never be noted.
        if constexpr (readiness<inner>::always) __asm__("" : "+r"(ready));
#endif
        return ready;
    }

    template <class Handle>
    COROSCOPE_DETAIL_APART auto await_suspend(Handle handle) noexcept {
        const auto theirs = std::coroutine_handle<Promise>::from_address(handle.address());
        auto& awaiter = slot_.awaiter();
        using outcome = decltype(awaiter.await_suspend(theirs));
        task_state& task = detail::state_of_task(handle);
        if constexpr (owned_awaiter<std::remove_reference_t<decltype(awaiter)>>) {
            return awaiter.coroscope_finish(theirs.promise(), task);
        } else if constexpr (std::is_void_v<outcome>) {
            departure leaving;
            const bool active = detail::finish_task(task, leaving);
            awaiter.await_suspend(theirs);
            if (active) [[unlikely]]
                detail::restore(leaving.before);
        } else {
            departure leaving;
            const bool active = detail::finish_task(task, leaving);
            auto next = awaiter.await_suspend(theirs);
            if (active) [[unlikely]] {
                if constexpr (std::is_same_v<outcome, bool>) {
                    detail::restore(leaving.before);
                } else {
                    detail::restore_and_expect(leaving, next.address());
                }
            }
            return next;
        }
    }

    void await_resume() noexcept { detail::resume_value(slot_.awaiter()); }

private:
    using inner = std::remove_reference_t<decltype(std::declval<Slot&>().awaiter())>;

    [[no_unique_address]] Slot slot_;
    [[no_unique_address]] readiness<inner> falls_through_;
};

}  // namespace coroscope::detail
