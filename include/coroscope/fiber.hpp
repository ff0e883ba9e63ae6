// SPDX-License-Identifier: Apache-2.0
#pragma once

// fiber_context: the task of one fiber (stackful coroutine, user-mode thread), for a custom
// scheduler. The scheduler must keep one per fiber and report each step of it:
//
//   coroscope::fiber_context task;            // the fiber is created: its spawn
//   task.ready();                             // it may run from now on: queued until switch_in()
//   task.switch_in();    /* switch stacks */  // it runs on this thread
//   task.switch_out();   /* switch stacks */  // it stopped running, and waits
//   task.finish();                            // it ran to its end
//
// switch_in() installs the fiber's context in the thread; switch_out() and finish() restore the
// previous one. Other work on the fiber's stack (coroutines, jobs, contexts) is suspended and
// resumed together with the fiber. If a context is destroyed before finish(), the task is
// abandoned, or cancelled if it never ran.
//
// Thread-safety: the thread that runs the fiber must call switch_in(), switch_out() and finish(),
// in this order. It may call them on any stack. Any thread may call ready(). None of them throws.
// They allocate or block only in the cases of any record (docs/design.md). With COROSCOPE_ENABLED=0
// the class is empty and does nothing.
//
// If fibers change threads inside a function with scopes, COROSCOPE_FIBERS must be set; see
// config.hpp.

#include <cstddef>
#include <cstdint>
#include <source_location>

#include <coroscope/config.hpp>
#include <coroscope/detail/executor.hpp>
#include <coroscope/detail/location.hpp>
#include <coroscope/detail/task_state.hpp>
#include <coroscope/site.hpp>

namespace coroscope {
namespace detail {

/// Per-stack data that the thread holds while it runs the stack. Opaque; swapped with the fiber.
struct stack_place {
    void* words[2] = {nullptr, nullptr};
};

struct fiber_state {
    task_state task;
    resumer inside{};              ///< the innermost work on its stack when it was switched out
    std::uint64_t left_ticks = 0;  ///< time of the last switch-out; all ones: unknown
    std::uint64_t session = 0;     ///< of the context that created it; a waker records into it
    stack_place place{};           ///< while it is switched out: its own; else: the thread's
    fiber_state* outer = nullptr;  ///< the fiber that it interrupts on its thread
    std::uintptr_t stack_low = 0;  ///< with stack_bytes 0: unknown
    std::uintptr_t stack_bytes = 0;
};

/// The waker of a fiber.
enum class fiber_waker : std::uint8_t {
    current,  ///< the current work of the calling thread
    itself,   ///< the fiber yielded, and has been ready since then
    unseen,   ///< unknown
};

/// The functions behind fiber_context, for integrations. The contracts are those of fiber_context's
/// members. leave_fiber() takes the address of a std::source_location, a label, or the names of a
/// library and its operation.
COROSCOPE_API void spawn_fiber(fiber_state& fiber, const void* location) noexcept;
COROSCOPE_API void wake_fiber(const fiber_state& fiber, fiber_waker waker) noexcept;
COROSCOPE_API void wake_fiber(const fiber_state& fiber, fiber_waker waker,
                              const executor_place& scheduler) noexcept;
COROSCOPE_API void enter_fiber(fiber_state& fiber) noexcept;
COROSCOPE_API void leave_fiber(fiber_state& fiber, const void* location) noexcept;
COROSCOPE_API void leave_fiber(fiber_state& fiber, site& label) noexcept;
COROSCOPE_API void leave_fiber(fiber_state& fiber, const char* library,
                               const char* operation) noexcept;
COROSCOPE_API void finish_fiber(fiber_state& fiber, bool failed) noexcept;
COROSCOPE_API void drop_fiber(fiber_state& fiber) noexcept;

/// From now on `fiber` represents the calling thread's own stack, and is left and entered as other
/// fibers are. If no task runs there, `fiber` becomes one. Otherwise the tasks that run there are
/// suspended while another fiber has the thread.
COROSCOPE_API void adopt_thread(fiber_state& fiber) noexcept;
/// Ends adopt_thread(). Must be called on the same thread. Returns false if other work on that
/// stack still needs `fiber`, which must then outlive that work.
COROSCOPE_API bool release_thread(fiber_state& fiber) noexcept;

/// Surrounds the unwinding of a suspended fiber's stack. The destructors on the stack run in the
/// context of the thread that destroys the fiber, and leave that context unchanged. Coroutines and
/// jobs that were suspended with the fiber end as destroyed.
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

/// The task of one fiber; see above for the order of the calls and their threads.
class fiber_context {
public:
    /// Creates the task of a fiber. `where` is its spawn site; its parent is the current task.
    explicit fiber_context(std::source_location where = std::source_location::current()) noexcept {
        detail::spawn_fiber(state_, detail::location_address(where));
    }
    ~fiber_context() { detail::drop_fiber(state_); }
    fiber_context(const fiber_context&) = delete;
    fiber_context& operator=(const fiber_context&) = delete;

    /// Names the fiber's stack. `lowest` may be null if only the end of the stack is known; `bytes`
    /// must then be that end. Without this call, scopes on the stack have correct times but an
    /// unknown suspension. Must be called before switch_in().
    void set_stack(const void* lowest, std::size_t bytes) noexcept {
        state_.stack_low = reinterpret_cast<std::uintptr_t>(lowest);
        state_.stack_bytes = bytes;
    }

    /// The fiber is ready to run. Any thread may call it, even before the preceding switch_out()
    /// has returned.
    void ready() noexcept { detail::wake_fiber(state_, detail::fiber_waker::current); }

    /// The fiber runs on this thread from now on. Must be called just before or after the switch to
    /// its stack.
    void switch_in() noexcept { detail::enter_fiber(state_); }

    /// The fiber stops and waits, at `where` or for the operation that `label` names (a site of
    /// kind await).
    void switch_out(std::source_location where = std::source_location::current()) noexcept {
        detail::leave_fiber(state_, detail::location_address(where));
    }
    void switch_out(site& label) noexcept { detail::leave_fiber(state_, label); }

    /// The fiber has run to its end. `failed`: an exception left it.
    void finish(bool failed = false) noexcept { detail::finish_fiber(state_, failed); }

    /// Calls `unwind`, which must run the destructors on the suspended fiber's stack. They run in
    /// the context of the calling thread, and leave it unchanged.
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
