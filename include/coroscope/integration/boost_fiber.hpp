// SPDX-License-Identifier: Apache-2.0
#pragma once

// Boost.Fiber: every fiber of a thread that installs the wrapped scheduling algorithm is a task.
//
//   using algorithm = coroscope::fibers::tracked<boost::fibers::algo::round_robin>;
//   boost::fibers::use_scheduling_algorithm<algorithm>();
//
// Call this on each thread that runs fibers, in place of the algorithm itself and with its
// arguments. The spawn of a fiber is the moment at which it first becomes ready (or is dispatched);
// its parent is the task that ran then. The thread's main fiber is a task from here on. If the
// thread runs tasks already, the main fiber represents them instead, and they are suspended while
// it waits. The scheduler's own fiber belongs to no task. If another thread or a timer wakes a
// fiber, it counts as ready when its own scheduler has noticed.
//
// With COROSCOPE_ENABLED=0 `tracked<Algorithm>` is the algorithm. The program must link
// Boost.Fiber.

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

namespace boost::fibers::algo {
class shared_work;
class work_stealing;
}  // namespace boost::fibers::algo

namespace coroscope::fibers {
inline namespace COROSCOPE_ABI {

#if COROSCOPE_ENABLED

namespace detail {

/// Returns a number that changes with each wait in one of Boost.Fiber's own classes, and never in a
/// yield; 0 in versions of Boost without it. A library that suspends fibers by context::suspend(),
/// as Boost's yield for Asio does, does not change it.
template <class Context>
std::size_t waits_of(const Context& fiber) noexcept {
    if constexpr (requires { fiber.waker_epoch_.load(); }) {
        return fiber.waker_epoch_.load(std::memory_order_relaxed) + 1;
    } else {
        return 0;
    }
}

/// The state of one fiber, kept as fiber-specific data.
struct entry {
    coroscope::detail::fiber_state state;
    std::size_t waits = 0;  ///< result of waits_of() when the fiber was left
    bool ended = false;
    bool adopted = false;  ///< of a main fiber: its thread's own stack is adopted
    unsigned watches = 0;  ///< of a main fiber: the algorithms of its thread
};

/// Boost calls it when the fiber's function has ended. The fiber still runs; it is destroyed at the
/// next switch.
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

/// Tracks the fiber that runs on one thread.
class thread_watch {
public:
    using context = boost::fibers::context;

    /// `shared`: where the algorithms of several threads share their ready fibers; null: nowhere.
    explicit thread_watch(const void* shared) noexcept
        : running_(context::active()), shared_(shared) {
        running_entry_ = obtain(running_);
        if (running_entry_ != nullptr) enter(*running_entry_);
    }

    // Two cases. Another algorithm replaces this one, and the fibers were passed to it one by one
    // as if they ran. Or the thread ends, and Boost has returned to its main fiber and no longer
    // knows the running fiber.
    ~thread_watch() {
        context* active = context::active();
        if (active == nullptr) active = main_;
        if (active != nullptr && active != running_) change_to(active);
        if (main_entry_ != nullptr && --main_entry_->watches == 0) let_go_of_main();
        coroscope::detail::forget_executor(this);
    }
    thread_watch(const thread_watch&) = delete;
    thread_watch& operator=(const thread_watch&) = delete;

    /// A fiber that was started by launch::dispatch runs without a call of pick_next().
    void settle() noexcept {
        if (context* active = context::active(); active != running_) change_to(active);
    }

    /// The running fiber has called the algorithm, so the switch to it is over.
    void has_arrived() const noexcept { just_left_ = nullptr; }

    void awakened(context* ready) noexcept {
        using coroscope::detail::fiber_waker;
        const bool in_the_switch = ready == just_left_;
        has_arrived();
        entry* woken = obtain(ready);
        if (woken == nullptr) return;
        fiber_waker waker = fiber_waker::current;
        if (in_the_switch && woken->waits != 0 && woken->waits == detail::waits_of(*ready))
            waker = fiber_waker::itself;
        else if (running_->is_context(boost::fibers::type::dispatcher_context))
            waker = fiber_waker::unseen;
        coroscope::detail::wake_fiber(woken->state, waker, scheduler());
    }

    void change_to(context* next) noexcept {
        entry* entered = obtain(next);
        if (running_entry_ != nullptr) leave(running_entry_);
        just_left_ = running_;
        running_ = next;
        running_entry_ = entered;
        if (entered != nullptr) enter(*entered);
    }

private:
    [[nodiscard]] coroscope::detail::executor_place scheduler() const noexcept {
        return {shared_ != nullptr ? shared_ : this, nullptr,
                coroscope::detail::executor_kind::fibers};
    }

    // Returns null for the scheduler's own fiber, and if memory is short.
    entry* obtain(context* fiber) noexcept {
        if (fiber->is_context(boost::fibers::type::dispatcher_context)) return nullptr;
        const bool is_main = fiber->is_context(boost::fibers::type::main_context);
        auto* found = static_cast<entry*>(fiber->get_fss_data(&entry_key));
        if (found == nullptr) {
            found = make_entry(*fiber);
            if (found != nullptr && !is_main) spawn(*found, fiber);
        }
        if (found != nullptr && is_main) keep_main(fiber, *found);
        return found;
    }

    static entry* make_entry(context& fiber) noexcept {
        auto* made = new (std::nothrow) entry;
        if (made == nullptr) return nullptr;
        try {
            fiber.set_fss_data(&entry_key,
                               boost::fibers::detail::fss_cleanup_function::ptr_t(new end_marker),
                               made, false);
        } catch (...) {
            delete made;
            return nullptr;
        }
        return made;
    }

    // The fiber's control block is at the upper end of its stack.
    static void spawn(entry& made, const context* fiber) noexcept {
        made.state.stack_bytes = reinterpret_cast<std::uintptr_t>(fiber);
        coroscope::detail::spawn_fiber(made.state, nullptr);
    }

    void keep_main(context* fiber, entry& found) noexcept {
        if (main_entry_ != nullptr) return;
        main_ = fiber;
        main_entry_ = &found;
        ++found.watches;
    }

    // We own the entry of a main fiber, because Boost does not report the end of that fiber.
    void let_go_of_main() noexcept {
        if (main_entry_->adopted && !coroscope::detail::release_thread(main_entry_->state)) return;
        try {
            main_->set_fss_data(&entry_key,
                                boost::fibers::detail::fss_cleanup_function::ptr_t(new end_marker),
                                nullptr, false);
        } catch (...) {  // no memory: the entry stays reachable from the fiber's data
            return;
        }
        delete main_entry_;
    }

    // The thread's own stack is adopted when its fiber runs for the first time.
    void enter(entry& entered) const noexcept {
        if (&entered != main_entry_ || entered.adopted)
            return coroscope::detail::enter_fiber(entered.state);
        entered.adopted = true;
        coroscope::detail::adopt_thread(entered.state);
    }

    void leave(entry* left) noexcept {
        if (left->ended) {
            coroscope::detail::finish_fiber(left->state, false);
            delete left;
        } else {
            left->waits = detail::waits_of(*running_);
            coroscope::detail::leave_fiber(left->state, "boost.fiber", "suspend");
        }
    }

    context* running_;
    entry* running_entry_;
    context* main_ = nullptr;
    entry* main_entry_ = nullptr;
    const void* shared_;
    // The fiber that was left by the current switch; null if the algorithm was called since then.
    // Boost makes a yielding fiber ready within the switch, before anything else, so only the first
    // call after the switch can be that of the yield. Must not be dereferenced, because an ended
    // fiber may be destroyed.
    mutable const context* just_left_ = nullptr;
};

}  // namespace detail

/// Whether the threads of an algorithm take ready fibers from each other, so that they are one
/// executor. May be specialised for algorithms of the program.
template <class Algorithm>
inline constexpr bool shares_fibers = false;
template <>
inline constexpr bool shares_fibers<boost::fibers::algo::shared_work> = true;
template <>
inline constexpr bool shares_fibers<boost::fibers::algo::work_stealing> = true;

/// A scheduling algorithm that schedules like `Algorithm`. Only its own thread may use it, except
/// that any thread may call notify().
template <class Algorithm>
class tracked final : public boost::fibers::algo::algorithm {
    using context = boost::fibers::context;

public:
    template <class... Arguments>
    explicit tracked(Arguments&&... arguments)
        : wrapped_(new Algorithm(static_cast<Arguments&&>(arguments)...)),
          watch_(shares_fibers<Algorithm> ? &coroscope::detail::executor_type_place<Algorithm>
                                          : nullptr) {}

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
    // A pointer to the base class, because `Algorithm` may hide the functions that it overrides.
    boost::intrusive_ptr<boost::fibers::algo::algorithm> wrapped_;
    detail::thread_watch watch_;
};

#else

template <class Algorithm>
using tracked = Algorithm;

#endif

}  // namespace COROSCOPE_ABI
}  // namespace coroscope::fibers
