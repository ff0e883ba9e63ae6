// SPDX-License-Identifier: Apache-2.0
#pragma once

// executor_adaptor: stamps each job of an executor with the moment of its enqueue and the moment of
// its start, so that the queued time is known.
//
// For a job that only resumes tasks, the enqueue is the wake of the first one. A job that resumes
// none, or does other work before, is a task of its own, and a child of its poster. The analysis
// distinguishes them: a scope that ended before the task was resumed, or a millisecond of time,
// counts as work. If the job is a std::coroutine_handle<> (as in schedule()), it is known to do no
// work.

#include <coroutine>
#include <cstdint>
#include <type_traits>

#include <coroscope/config.hpp>
#include <coroscope/context.hpp>
#include <coroscope/detail/executor.hpp>
#include <coroscope/detail/hand_over.hpp>
#include <coroscope/detail/location.hpp>
#include <coroscope/detail/task_state.hpp>

namespace coroscope {
namespace detail {

/// The identity of a job, made when it is enqueued. 24 bytes.
struct job_stamp {
    std::uint64_t task;
    context poster;
};
/// Records the enqueue of a job in the current context and returns its stamp. `location` is the
/// address of a std::source_location, or null. Exactly one job_run, moving_job_run or cancel_job()
/// must follow. Any thread may call these functions.
COROSCOPE_API job_stamp post_job(const void* location) noexcept;
/// As post_job(), for a job that only resumes a coroutine.
COROSCOPE_API job_stamp post_resuming_job(const void* location) noexcept;
/// As post_job() or, if `only_resumes`, as post_resuming_job(), for a job that is handed to this
/// executor.
COROSCOPE_API job_stamp post_job_on(const executor_place& executor, const void* location,
                                    bool only_resumes) noexcept;
/// As post_job(), for the body of a thread: it is a task of its own, whatever it resumes.
COROSCOPE_API job_stamp post_thread(const void* location) noexcept;

/// Whether a callable only resumes a coroutine: it is a handle, or declares so by a member type.
template <class Callable>
inline constexpr bool only_resumes = requires { typename Callable::resumes_coroutine; };
template <class Promise>
inline constexpr bool only_resumes<std::coroutine_handle<Promise>> = true;

/// Surrounds the run of a job, on the thread that runs it.
class job_run {
public:
    COROSCOPE_API explicit job_run(const job_stamp& job) noexcept;
    COROSCOPE_API ~job_run();
    job_run(const job_run&) = delete;
    job_run& operator=(const job_run&) = delete;

private:
    task_state state_;
    int exceptions_;
    bool moves_;  ///< as moving_job_run: it runs on a stack unknown to the runtime
};

/// As job_run, for a library that may switch away from the job's stack without a notice and
/// continue the job on another thread. The thread refers to nothing in this object. If at the end
/// of the job another task is current on the thread, the thread runs no task's work afterwards.
class moving_job_run {
public:
    COROSCOPE_API explicit moving_job_run(const job_stamp& job) noexcept;
    COROSCOPE_API ~moving_job_run();
    moving_job_run(const moving_job_run&) = delete;
    moving_job_run& operator=(const moving_job_run&) = delete;

private:
    std::uint64_t task_;
    resumer before_;
    const thread_state* thread_;
    int exceptions_;
};

/// Surrounds a switch away from the stack of the current work: its task is suspended in an await at
/// `location`, the address of a std::source_location. It goes on when this object is destroyed,
/// possibly on another thread.
class stack_pause {
public:
    COROSCOPE_API explicit stack_pause(const void* location) noexcept;
    COROSCOPE_API ~stack_pause();
    stack_pause(const stack_pause&) = delete;
    stack_pause& operator=(const stack_pause&) = delete;

private:
    resumer inside_;
};

/// Ends a job that never runs. Must be called at most once, instead of a run.
COROSCOPE_API void cancel_job(const job_stamp& job) noexcept;

/// The holders of a job's stamp: none, one ticket, or several. Several are counted in allocated
/// memory.
using job_holders = std::uintptr_t;
inline constexpr job_holders no_holder = 0;
inline constexpr job_holders only_holder = 1;

/// Returns the holders for a copy of a ticket with `holders`. If memory is short, the job has no
/// holder from here on. Several threads may copy a ticket at the same time.
COROSCOPE_API job_holders share_job(job_holders& holders) noexcept;
/// One of several holders goes away or, if `runs`, runs the job. Returns true for the last holder
/// of a job that none has run.
COROSCOPE_API bool leave_job(job_holders holders, bool runs) noexcept;

/// The stamp of a job, as its callable carries it through a queue, which may copy it. The last
/// holder cancels the job if it never ran.
class job_ticket {
public:
    explicit job_ticket(job_stamp stamp) noexcept : stamp_(detail::moved(stamp)) {}
    job_ticket(job_ticket&& other) noexcept
        : stamp_(detail::moved(other.stamp_)), holders_(detail::taken(other.holders_)) {}
    job_ticket(const job_ticket& other) noexcept
        : stamp_(other.stamp_), holders_(detail::share_job(other.holders_)) {}
    job_ticket& operator=(job_ticket other) noexcept {
        const job_stamp stamp = stamp_;
        const job_holders held = holders_;
        stamp_ = other.stamp_;
        holders_ = other.holders_;
        other.stamp_ = stamp;
        other.holders_ = held;
        return *this;
    }
    ~job_ticket() {
        if (leaves(false)) detail::cancel_job(stamp_);
    }

    /// Returns the stamp for the run that begins now.
    const job_stamp& redeem() noexcept {
        leaves(true);
        holders_ = no_holder;
        return stamp_;
    }

private:
    bool leaves(bool runs) const noexcept {
        return holders_ == only_holder ||
               (holders_ != no_holder && detail::leave_job(holders_, runs));
    }

    job_stamp stamp_;
    mutable job_holders holders_ = only_holder;
};

}  // namespace detail

inline namespace COROSCOPE_ABI {

/// A callable on its way through a queue. If the callable is move-only, so is the job.
template <class Callable, class Run = detail::job_run>
class stamped_job {
public:
    stamped_job(Callable callable, const void* location)
        : callable_(detail::moved(callable)),
          ticket_(detail::only_resumes<Callable> ? detail::post_resuming_job(location)
                                                 : detail::post_job(location)) {}
    /// A job for this executor.
    stamped_job(Callable callable, const void* location, const detail::executor_place& executor)
        : callable_(detail::moved(callable)),
          ticket_(detail::post_job_on(executor, location, detail::only_resumes<Callable>)) {}

    decltype(auto) operator()() {
        const Run run(ticket_.redeem());
        if constexpr (std::is_invocable_v<Callable>) {
            return detail::moved(callable_)();
        } else {
            return callable_();
        }
    }

private:
    Callable callable_;
    detail::job_ticket ticket_;
};

/// Wraps an executor that has `execute(f)` or `post(f)`. It keeps a reference to the executor,
/// which must outlive it, or a copy if `Executor` is a value type: executor_adaptor<any_executor>.
/// As thread-safe as the executor.
///
/// Traces name the executor of each job (`coroscope executors`). An executor that is referred to is
/// known by its address. All values of one type count as one executor, unless their adaptors have
/// names or the type has a member `executor_place place() const`.
template <class Executor>
class executor_adaptor {
public:
    explicit executor_adaptor(Executor executor) : executor_(static_cast<Executor&&>(executor)) {}

    /// `name` is the executor's name in traces. It must be NUL-terminated and outlive the adaptor
    /// and its copies; a literal does. Adaptors whose names are at different addresses count as
    /// different executors.
    executor_adaptor(Executor executor, const char* name)
        : executor_(static_cast<Executor&&>(executor)), name_(name) {}

    /// Enqueues `callable`. Throws the exceptions of the executor and of the callable's copy or
    /// move.
    template <class Callable>
    void execute(Callable&& callable,
                 std::source_location where = std::source_location::current()) {
        if constexpr (COROSCOPE_ENABLED != 0) {
            hand_in(stamped_job<std::decay_t<Callable>>(static_cast<Callable&&>(callable),
                                                        detail::location_address(where), place()));
        } else {
            hand_in(static_cast<Callable&&>(callable));
        }
    }
    template <class Callable>
    void post(Callable&& callable, std::source_location where = std::source_location::current()) {
        execute(static_cast<Callable&&>(callable), where);
    }

    /// `co_await adaptor.schedule()` goes on in the executor. If the adaptor holds a copyable
    /// executor by value, the await uses a copy, so the adaptor may belong to the coroutine. A
    /// move-only executor must outlive the call.
    auto schedule(std::source_location where = std::source_location::current()) noexcept {
        return hop(*this, where);
    }

private:
    class hop {
    public:
        hop(executor_adaptor& executor, std::source_location where) noexcept
            : executor_(__builtin_addressof(executor)), where_(where) {}
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> waiter) const {
            // The coroutine may run on another thread, and destroy the adaptor in its frame, before
            // the executor's call returns.
            std::conditional_t<std::is_copy_constructible_v<Executor>, executor_adaptor,
                               executor_adaptor&>
                kept = *executor_;
            kept.execute(std::coroutine_handle<>(waiter), where_);
        }
        void await_resume() const noexcept {}

    private:
        executor_adaptor* executor_;
        std::source_location where_;
    };

    detail::executor_place place() const noexcept {
        if constexpr (requires {
                          requires std::is_same_v<decltype(executor_.place()),
                                                  detail::executor_place>;
                      }) {
            detail::executor_place found = executor_.place();
            if (name_ != nullptr) found.name = name_;
            return found;
        } else if constexpr (std::is_reference_v<Executor>) {
            return {__builtin_addressof(executor_), name_, detail::executor_kind::other};
        } else {
            return {name_ != nullptr ? name_ : &detail::executor_type_place<Executor>, name_,
                    detail::executor_kind::other};
        }
    }

    template <class Job>
    void hand_in(Job&& job) {
        if constexpr (requires { executor_.execute(static_cast<Job&&>(job)); }) {
            executor_.execute(static_cast<Job&&>(job));
        } else {
            executor_.post(static_cast<Job&&>(job));
        }
    }

    Executor executor_;
    const char* name_ = nullptr;
};

template <class Executor>
executor_adaptor(Executor&) -> executor_adaptor<Executor&>;
template <class Executor>
executor_adaptor(Executor&, const char*) -> executor_adaptor<Executor&>;

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
