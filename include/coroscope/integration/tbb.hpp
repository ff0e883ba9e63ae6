// SPDX-License-Identifier: Apache-2.0
#pragma once

// oneTBB: task_group and task_arena that track their work. Use them like their base classes.
//
//   coroscope::task_group group;
//   group.run([] { COROSCOPE("part"); });     // a task, child of the caller; queued until it runs
//   group.wait();
//   coroscope::task_arena arena(4);
//   auto result = arena.execute(work);        // the caller's own work, in the caller's context
//   arena.enqueue([] { … });                  // a task
//
//   coroscope::tbb_suspend([&](auto point) { … });  // a recorded oneapi::tbb::task::suspend()
//
// Each job knows its executor: the coroscope::task_arena that it was put into, or in which its
// group's run() was called. Jobs of which the arena is unknown share the executor "oneTBB", as
// their threads do.
//
// Work of a cancelled group that never ran shows as cancelled. Work on a thread that waits for a
// group is nested in that thread's current work. oneTBB does not report the suspension of a task.
// Without tbb_suspend() the time of a suspended task includes the time of other work on its thread,
// and later work may belong to no task.

#include <source_location>
#include <type_traits>
#include <utility>

#include <oneapi/tbb/task.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <coroscope/config.hpp>
#include <coroscope/context.hpp>
#include <coroscope/detail/executor.hpp>
#include <coroscope/detail/location.hpp>
#include <coroscope/executor_adaptor.hpp>
#include <coroscope/propagate.hpp>

namespace coroscope {
namespace detail {

/// The arena in which this thread is known to run, null if it is unknown.
inline thread_local const void* tbb_arena_here = nullptr;

// Not inlined, because a job may move to another thread, and a compiler may keep the address of a
// thread_local variable.
[[gnu::noinline]] inline const void* tbb_arena() noexcept { return tbb_arena_here; }
[[gnu::noinline]] inline const void* enter_tbb_arena(const void* arena) noexcept {
    return std::exchange(tbb_arena_here, arena);
}
/// Returns an address that differs between threads.
[[gnu::noinline]] inline const void* tbb_thread() noexcept {
    return static_cast<const void*>(&tbb_arena_here);
}

/// Returns the executor of a job of this arena; null: the arena is unknown.
inline executor_place tbb_place(const void* arena) noexcept {
    if (arena == nullptr)
        return {&executor_type_place<oneapi::tbb::task_arena>, "oneTBB", executor_kind::arena};
    return {arena, nullptr, executor_kind::arena};
}

/// Sets the arena of this thread for the time of a block. If the work is on another thread at the
/// end of the block, the arena of that thread is unknown from then on.
class tbb_arena_guard {
public:
    explicit tbb_arena_guard(const void* arena) noexcept
        : before_(detail::enter_tbb_arena(arena)), thread_(detail::tbb_thread()) {}
    ~tbb_arena_guard() {
        detail::enter_tbb_arena(detail::tbb_thread() == thread_ ? before_ : nullptr);
    }
    tbb_arena_guard(const tbb_arena_guard&) = delete;
    tbb_arena_guard& operator=(const tbb_arena_guard&) = delete;

private:
    const void* before_;
    const void* thread_;
};

}  // namespace detail

inline namespace COROSCOPE_ABI {

#if COROSCOPE_ENABLED

/// A job in the form that oneTBB needs: callable as a const object, and without a result, because
/// oneTBB would use it.
template <class Callable>
class tbb_job {
public:
    /// Makes a job for this arena; null: the arena is unknown.
    tbb_job(Callable callable, const void* location, const void* arena)
        : arena_(arena), job_(std::move(callable), location, detail::tbb_place(arena)) {}
    void operator()() const {
        const detail::tbb_arena_guard inside(arena_);
        static_cast<void>(job_());
    }

private:
    const void* arena_;
    mutable stamped_job<Callable, detail::moving_job_run> job_;
};

/// Suspends the current job until oneapi::tbb::task::resume(point), which any thread may call, even
/// before `callable` has returned. `callable` receives the point. The job may go on on another
/// thread. Must not be called in a coroutine that the job resumed.
template <class Callable>
void tbb_suspend(Callable&& callable,
                 std::source_location where = std::source_location::current()) {
    const void* const arena = detail::enter_tbb_arena(nullptr);
    {
        const detail::stack_pause paused(detail::location_address(where));
        oneapi::tbb::task::suspend(static_cast<Callable&&>(callable));
    }
    detail::enter_tbb_arena(arena);
}

/// A task_group whose work is tracked. Its functions have the requirements, effects and errors of
/// the base class.
class task_group : public oneapi::tbb::task_group {
    using base = oneapi::tbb::task_group;

public:
    using base::base;

    template <class Callable>
    void run(Callable&& callable, std::source_location where = std::source_location::current()) {
        base::run(make_job(static_cast<Callable&&>(callable), where));
    }

    template <class Callable>
    oneapi::tbb::task_group_status
    run_and_wait(Callable&& callable,
                 std::source_location where = std::source_location::current()) {
        const auto job = make_job(static_cast<Callable&&>(callable), where);
        const context_guard kept(coroscope::current_context());
        return base::run_and_wait(job);
    }

    /// Other work on the thread may have moved to another thread in between. On return the thread
    /// has its earlier context again.
    oneapi::tbb::task_group_status wait() {
        const context_guard kept(coroscope::current_context());
        return base::wait();
    }

    template <class Callable>
    oneapi::tbb::task_handle defer(Callable&& callable,
                                   std::source_location where = std::source_location::current()) {
        return base::defer(make_job(static_cast<Callable&&>(callable), where, nullptr));
    }

    /// A deferred handle is already a job, queued since defer(). Its arena is unknown.
    void run(oneapi::tbb::task_handle&& deferred) { base::run(std::move(deferred)); }
    oneapi::tbb::task_group_status run_and_wait(oneapi::tbb::task_handle&& deferred) {
        const context_guard kept(coroscope::current_context());
        return base::run_and_wait(std::move(deferred));
    }

private:
    template <class Callable>
    static tbb_job<std::decay_t<Callable>> make_job(Callable&& callable, std::source_location where,
                                                    const void* arena = detail::tbb_arena()) {
        return {static_cast<Callable&&>(callable), detail::location_address(where), arena};
    }
};

/// A task_arena whose work is tracked. Its functions have the requirements, effects and errors of
/// the base class.
class task_arena : public oneapi::tbb::task_arena {
    using base = oneapi::tbb::task_arena;

public:
    using base::base;
    task_arena() = default;
    task_arena(const task_arena&) = default;
    task_arena& operator=(const task_arena&) = delete;
    ~task_arena() { detail::forget_executor(this); }

    template <class Callable>
    void enqueue(Callable&& callable,
                 std::source_location where = std::source_location::current()) {
        base::enqueue(tbb_job<std::decay_t<Callable>>(static_cast<Callable&&>(callable),
                                                      detail::location_address(where), this));
    }
    void enqueue(oneapi::tbb::task_handle&& deferred) { base::enqueue(std::move(deferred)); }

    /// Returns the result of `callable`, including references. Another thread may run it while this
    /// one waits.
    template <class Callable>
    decltype(auto) execute(Callable&& callable) {
        const context caller = coroscope::current_context();
        const context_guard kept(caller);
        using result = std::invoke_result_t<Callable>;
        if constexpr (std::is_reference_v<result>) {
            auto* address = base::execute([&] {
                const context_guard guard(caller);
                const detail::tbb_arena_guard inside(this);
                auto&& referred = static_cast<Callable&&>(callable)();
                return __builtin_addressof(referred);
            });
            return static_cast<result>(*address);
        } else {
            return base::execute([&]() -> result {
                const context_guard guard(caller);
                const detail::tbb_arena_guard inside(this);
                return static_cast<Callable&&>(callable)();
            });
        }
    }
};

#else

using task_group = oneapi::tbb::task_group;
using task_arena = oneapi::tbb::task_arena;

template <class Callable>
void tbb_suspend(Callable&& callable) {
    oneapi::tbb::task::suspend(static_cast<Callable&&>(callable));
}

#endif

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
