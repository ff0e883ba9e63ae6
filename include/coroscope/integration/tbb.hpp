// SPDX-License-Identifier: Apache-2.0
#pragma once

// oneTBB: task_group and task_arena whose work is followed. They are used like their bases.
//
//   coroscope::task_group group;
//   group.run([] { COROSCOPE("part"); });        // a task, child of whoever runs it; queued until it runs
//   group.wait();
//   coroscope::task_arena arena(4);
//   auto result = arena.execute(work);           // the caller's own work, in the caller's context
//   arena.enqueue([] { … });                     // a task
//
//   coroscope::tbb_suspend([&](auto point) { … });  // as oneapi::tbb::task::suspend(), told to the profiler
//
// Work of a cancelled group that never ran shows as cancelled. What runs on a thread that waits for a group
// is nested in what that thread was doing. oneTBB tells nobody of a task that it suspends: without tbb_suspend() its time
// and that of what its thread does meanwhile are not told apart, and what runs behind it may belong to no task.

#include <source_location>
#include <type_traits>
#include <utility>

#include <oneapi/tbb/task.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <coroscope/config.hpp>
#include <coroscope/context.hpp>
#include <coroscope/detail/location.hpp>
#include <coroscope/executor_adaptor.hpp>
#include <coroscope/propagate.hpp>

namespace coroscope {
inline namespace COROSCOPE_ABI {

#if COROSCOPE_ENABLED

/// A job as oneTBB calls it: as a constant, and looking at what it returns.
template <class Callable>
class tbb_job {
public:
    tbb_job(Callable callable, const void* location) : job_(std::move(callable), location) {}
    void operator()() const { static_cast<void>(job_()); }

private:
    mutable stamped_job<Callable, detail::moving_job_run> job_;
};

/// Suspends the job that runs here until oneapi::tbb::task::resume(point), called by any thread, maybe before `callable`,
/// which takes the point, has returned. It may go on on another thread. Not from a coroutine that the job resumed.
template <class Callable>
void tbb_suspend(Callable&& callable,
                 std::source_location where = std::source_location::current()) {
    const detail::stack_pause paused(detail::location_address(where));
    oneapi::tbb::task::suspend(static_cast<Callable&&>(callable));
}

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
        const context_guard kept(current_context());
        return base::run_and_wait(job);
    }

    /// What the thread runs meanwhile may have gone elsewhere: behind it the thread does again what it did.
    oneapi::tbb::task_group_status wait() {
        const context_guard kept(current_context());
        return base::wait();
    }

    template <class Callable>
    oneapi::tbb::task_handle defer(Callable&& callable,
                                   std::source_location where = std::source_location::current()) {
        return base::defer(make_job(static_cast<Callable&&>(callable), where));
    }

    /// What defer() made is a job already; it is queued since then.
    void run(oneapi::tbb::task_handle&& deferred) { base::run(std::move(deferred)); }
    oneapi::tbb::task_group_status run_and_wait(oneapi::tbb::task_handle&& deferred) {
        const context_guard kept(current_context());
        return base::run_and_wait(std::move(deferred));
    }

private:
    template <class Callable>
    static tbb_job<std::decay_t<Callable>> make_job(Callable&& callable,
                                                    std::source_location where) {
        return {static_cast<Callable&&>(callable), detail::location_address(where)};
    }
};

class task_arena : public oneapi::tbb::task_arena {
    using base = oneapi::tbb::task_arena;

public:
    using base::base;

    template <class Callable>
    void enqueue(Callable&& callable,
                 std::source_location where = std::source_location::current()) {
        base::enqueue(tbb_job<std::decay_t<Callable>>(static_cast<Callable&&>(callable),
                                                      detail::location_address(where)));
    }
    void enqueue(oneapi::tbb::task_handle&& deferred) { base::enqueue(std::move(deferred)); }

    /// Gives what `callable` does, references too; another thread may run it while this one waits.
    template <class Callable>
    decltype(auto) execute(Callable&& callable) {
        const context caller = current_context();
        const context_guard kept(caller);
        using result = std::invoke_result_t<Callable>;
        if constexpr (std::is_reference_v<result>) {
            auto* address = base::execute([&] {
                const context_guard guard(caller);
                auto&& referred = static_cast<Callable&&>(callable)();
                return &referred;
            });
            return static_cast<result>(*address);
        } else {
            return base::execute([&]() -> result {
                const context_guard guard(caller);
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
