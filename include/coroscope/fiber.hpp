// SPDX-License-Identifier: Apache-2.0
#pragma once

// fiber_context: the task of one fiber (stackful coroutine, user-mode thread) for a scheduler of one's
// own. The scheduler keeps one per fiber and says what happens to it:
//
//   coroscope::fiber_context task;               // the fiber is created: its spawn
//   task.ready();                                // it may run from now on: queued until switch_in()
//   task.switch_in();    /* switch stacks */     // it runs on this thread
//   task.switch_out();   /* switch stacks */     // it stopped running, and waits
//   task.finish();                               // it ran to its end
//
// switch_in() puts the fiber's context in the thread's place, switch_out() and finish() put back what
// was there. What else runs on the fiber's stack (coroutines, jobs, contexts) stops and goes on with it.
// A context that is destroyed before finish() is an abandoned task, or a cancelled one if it never ran.
//
// switch_in(), switch_out() and finish() are called on the thread that runs the fiber, in this order and
// by one thread at a time; on which stack does not matter. ready() may be called by any thread. None
// throws, allocates or blocks. With COROSCOPE_ENABLED=0 the class is empty and does nothing.
//
// A fiber that changes threads inside a function with scopes: see COROSCOPE_FIBERS in config.hpp.

#include <cstddef>
#include <cstdint>
#include <source_location>

#include <coroscope/config.hpp>
#include <coroscope/detail/location.hpp>
#include <coroscope/detail/task_state.hpp>
#include <coroscope/site.hpp>

namespace coroscope {
namespace detail {

/// What belongs to a stack and not to the thread that runs it; opaque, swapped with the fiber.
struct stack_place {
    void* words[2] = {nullptr, nullptr};
};

struct fiber_state {
    task_state task;
    resumer inside{};              ///< what ran on its stack when it was switched out
    std::uint64_t left_ticks = 0;  ///< when it was switched out last; all ones: nobody knows
    std::uint64_t session = 0;     ///< of the context that created it, for whoever wakes it
    stack_place place{};           ///< while it is switched out its own, else the thread's
    fiber_state* outer = nullptr;  ///< the fiber that it interrupts on its thread
    std::uintptr_t stack_low = 0;  ///< with stack_bytes 0: unknown
    std::uintptr_t stack_bytes = 0;
};

/// Who made a fiber ready.
enum class fiber_waker : std::uint8_t {
    current,  ///< what runs on the calling thread
    itself,   ///< it only gave its thread up, and is ready since then
    unseen,   ///< nobody knows
};

COROSCOPE_API void spawn_fiber(fiber_state& fiber, const void* location) noexcept;
COROSCOPE_API void wake_fiber(const fiber_state& fiber, fiber_waker waker) noexcept;
COROSCOPE_API void enter_fiber(fiber_state& fiber) noexcept;
COROSCOPE_API void leave_fiber(fiber_state& fiber, const void* location) noexcept;
COROSCOPE_API void leave_fiber(fiber_state& fiber, site& label) noexcept;
COROSCOPE_API void leave_fiber(fiber_state& fiber, const char* library,
                               const char* operation) noexcept;
COROSCOPE_API void finish_fiber(fiber_state& fiber, bool failed) noexcept;
COROSCOPE_API void drop_fiber(fiber_state& fiber) noexcept;

/// While the stack of a suspended fiber is unwound: destructors on it run in the context of whoever
/// destroys the fiber, and leave it as it was. Coroutines and jobs that were suspended with it are destroyed with it.
class fiber_unwinding {
public:
    COROSCOPE_API explicit fiber_unwinding(fiber_state& fiber) noexcept;
    COROSCOPE_API ~fiber_unwinding();
    fiber_unwinding(const fiber_unwinding&) = delete;
    fiber_unwinding& operator=(const fiber_unwinding&) = delete;

private:
    fiber_state* fiber_;
    resumer before_;
};

}  // namespace detail

inline namespace COROSCOPE_ABI {

#if COROSCOPE_ENABLED

class fiber_context {
public:
    /// The fiber exists from here on; `where` is its spawn site. Its parent is the current task.
    explicit fiber_context(std::source_location where = std::source_location::current()) noexcept {
        detail::spawn_fiber(state_, detail::location_address(where));
    }
    ~fiber_context() { detail::drop_fiber(state_); }
    fiber_context(const fiber_context&) = delete;
    fiber_context& operator=(const fiber_context&) = delete;

    /// Where its stack lies; `lowest` may be null if only the end is known, which `bytes` then is.
    /// Without it, scopes on the stack have right times but an unknown suspension. Before switch_in().
    void set_stack(const void* lowest, std::size_t bytes) noexcept {
        state_.stack_low = reinterpret_cast<std::uintptr_t>(lowest);
        state_.stack_bytes = bytes;
    }

    /// It became ready to run. Any thread, also before the switch_out() that it follows has returned.
    void ready() noexcept { detail::wake_fiber(state_, detail::fiber_waker::current); }

    void switch_in() noexcept { detail::enter_fiber(state_); }

    /// It waits, at `where` or for what `label` names (a site of kind await).
    void switch_out(std::source_location where = std::source_location::current()) noexcept {
        detail::leave_fiber(state_, detail::location_address(where));
    }
    void switch_out(site& label) noexcept { detail::leave_fiber(state_, label); }

    void finish(bool failed = false) noexcept { detail::finish_fiber(state_, failed); }

    /// Calls `unwind`, which runs the destructors on the suspended fiber's stack: they run in the
    /// context of whoever destroys the fiber, and leave that as it was.
    template <class Unwind>
    void unwind(Unwind&& unwind) {
        const detail::fiber_unwinding around(state_);
        static_cast<Unwind&&>(unwind)();
    }

    /// For integrations.
    detail::fiber_state& state() noexcept { return state_; }

private:
    detail::fiber_state state_;
};

#else

class fiber_context {
public:
    explicit fiber_context(std::source_location = std::source_location::current()) noexcept {}
    ~fiber_context() {}
    fiber_context(const fiber_context&) = delete;
    fiber_context& operator=(const fiber_context&) = delete;

    void set_stack(const void*, std::size_t) noexcept {}
    void ready() noexcept {}
    void switch_in() noexcept {}
    void switch_out(std::source_location = std::source_location::current()) noexcept {}
    void switch_out(site&) noexcept {}
    void finish(bool = false) noexcept {}
    template <class Unwind>
    void unwind(Unwind&& unwind) {
        static_cast<Unwind&&>(unwind)();
    }
};

#endif

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
