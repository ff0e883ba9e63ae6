// SPDX-License-Identifier: Apache-2.0
#pragma once

// Boost.Fiber: every fiber of a thread that installs the wrapped scheduling algorithm is a task.
//
//   boost::fibers::use_scheduling_algorithm<coroscope::fibers::tracked<boost::fibers::algo::round_robin>>();
//
// instead of the algorithm itself, with its arguments, on each thread that runs fibers. A fiber's spawn is
// where it is first made ready (or dispatched), its parent whatever ran there. The thread's main fiber is no
// task: it stays what the thread was doing, and fibers nest in it; so does the scheduler's own fiber. A fiber
// that another thread wakes, or a timer, counts as ready when its own scheduler has noticed.
//
// With COROSCOPE_ENABLED=0 `tracked<Algorithm>` is the algorithm. Link Boost.Fiber.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>

#include <boost/fiber/algo/algorithm.hpp>
#include <boost/fiber/context.hpp>
#include <boost/fiber/operations.hpp>
#include <boost/intrusive_ptr.hpp>

#include <coroscope/config.hpp>
#include <coroscope/fiber.hpp>

namespace coroscope::fibers {
inline namespace COROSCOPE_ABI {

#if COROSCOPE_ENABLED

namespace detail {

/// Changes with each wait in one of Boost.Fiber's own classes, and so never in a yield; 0 in versions of Boost that
/// do not say. A library that parks fibers itself (context::suspend(), as Boost's yield for Asio) leaves it as it is.
template <class Context>
std::size_t waits_of(const Context& fiber) noexcept {
    if constexpr (requires { fiber.waker_epoch_.load(); }) {
        return fiber.waker_epoch_.load(std::memory_order_relaxed) + 1;
    } else {
        return 0;
    }
}

/// What we keep of one fiber, as fiber-specific data.
struct entry {
    coroscope::detail::fiber_state state;
    std::size_t waits = 0;  ///< as waits_of() was when the fiber was left
    bool ended = false;
};

/// Boost calls it when the fiber's function has ended. The fiber still runs; it is gone at the next switch.
class end_marker final : public boost::fibers::detail::fss_cleanup_function {
public:
    void operator()(void* data) override {
        auto* ended = static_cast<entry*>(data);
        ended->ended = true;
        if ((ended->state.task.flags & coroscope::detail::task_installed) != 0) return;
        coroscope::detail::drop_fiber(ended->state);  // it ran on a thread that tracks nothing
        delete ended;
    }
};

/// The key of an entry among a fiber's specific data.
inline COROSCOPE_API constinit char entry_key = 0;

/// Follows which fiber runs on one thread.
class thread_watch {
public:
    using context = boost::fibers::context;

    thread_watch() noexcept : running_(context::active()) {
        running_entry_ = obtain(running_);
        if (running_entry_ != nullptr) coroscope::detail::enter_fiber(running_entry_->state);
    }

    // Replaced by another algorithm, which its fibers were handed to one by one as if they ran.
    ~thread_watch() {
        if (context* active = context::active(); active != nullptr && active != running_)
            change_to(active);
    }
    thread_watch(const thread_watch&) = delete;
    thread_watch& operator=(const thread_watch&) = delete;

    /// A fiber that was started by launch::dispatch runs without having been picked.
    void settle() noexcept {
        if (context* active = context::active(); active != running_) change_to(active);
    }

    /// What runs here has called the algorithm: the switch to it is over.
    void has_arrived() const noexcept { just_left_ = nullptr; }

    void awakened(context* ready) noexcept {
        using coroscope::detail::fiber_waker;
        const bool in_the_switch = ready == just_left_;
        has_arrived();
        entry* woken = obtain(ready);
        if (woken == nullptr) return;
        fiber_waker waker = fiber_waker::current;
        if (in_the_switch && woken->waits != 0 && woken->waits == waits_of(*ready))
            waker = fiber_waker::itself;
        else if (running_->is_context(boost::fibers::type::dispatcher_context))
            waker = fiber_waker::unseen;
        coroscope::detail::wake_fiber(woken->state, waker);
    }

    void change_to(context* next) noexcept {
        entry* entered = obtain(next);
        if (running_entry_ != nullptr) leave(running_entry_);
        just_left_ = running_;
        running_ = next;
        running_entry_ = entered;
        if (entered != nullptr) coroscope::detail::enter_fiber(entered->state);
    }

private:
    // Null for the thread's main fiber and the scheduler's own, and where memory is short.
    static entry* obtain(context* fiber) noexcept {
        if (fiber->is_context(boost::fibers::type::pinned_context)) return nullptr;
        if (void* known = fiber->get_fss_data(&entry_key)) return static_cast<entry*>(known);
        auto* made = new (std::nothrow) entry;
        if (made == nullptr) return nullptr;
        try {
            fiber->set_fss_data(&entry_key,
                                boost::fibers::detail::fss_cleanup_function::ptr_t(new end_marker),
                                made, false);
        } catch (...) {
            delete made;
            return nullptr;
        }
        // The fiber's control block stands at the upper end of its stack.
        made->state.stack_bytes = reinterpret_cast<std::uintptr_t>(fiber);
        coroscope::detail::spawn_fiber(made->state, nullptr);
        return made;
    }

    void leave(entry* left) noexcept {
        if (left->ended) {
            coroscope::detail::finish_fiber(left->state, false);
            delete left;
        } else {
            left->waits = waits_of(*running_);
            coroscope::detail::leave_fiber(left->state, "boost.fiber", "suspend");
        }
    }

    context* running_;
    entry* running_entry_;
    // Boost makes a fiber that yields ready within the switch, before anything else: only the first call that follows
    // can be that. Null: it has come. Never followed, since what has ended may be gone.
    mutable const context* just_left_ = nullptr;
};

}  // namespace detail

/// A scheduling algorithm that schedules as `Algorithm` does. Like it, used by its thread only; notify()
/// by any thread.
template <class Algorithm>
class tracked final : public boost::fibers::algo::algorithm {
    using context = boost::fibers::context;

public:
    template <class... Arguments>
    explicit tracked(Arguments&&... arguments)
        : wrapped_(new Algorithm(static_cast<Arguments&&>(arguments)...)) {}

    void awakened(context* ready) noexcept override {
        watch_.settle();
        watch_.awakened(ready);  // before another thread can take it
        wrapped_->awakened(ready);
    }

    context* pick_next() noexcept override {
        watch_.settle();
        watch_.has_arrived();
        context* next = wrapped_->pick_next();
        if (next != nullptr) watch_.change_to(next);
        return next;
    }

    bool has_ready_fibers() const noexcept override {
        watch_.has_arrived();
        return wrapped_->has_ready_fibers();
    }
    void suspend_until(const std::chrono::steady_clock::time_point& until) noexcept override {
        watch_.has_arrived();
        wrapped_->suspend_until(until);
    }
    void notify() noexcept override { wrapped_->notify(); }

private:
    boost::intrusive_ptr<boost::fibers::algo::algorithm>
        wrapped_;  // its type may hide what it overrides
    detail::thread_watch watch_;
};

#else

template <class Algorithm>
using tracked = Algorithm;

#endif

}  // namespace COROSCOPE_ABI
}  // namespace coroscope::fibers
