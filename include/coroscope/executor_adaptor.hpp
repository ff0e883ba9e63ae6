// SPDX-License-Identifier: Apache-2.0
#pragma once

// executor_adaptor: stamps what an executor runs with the moment it was handed in and the moment it
// began, so that queued time is known. Of a job that only resumes tasks the enqueue is the first one's wake; one that
// resumes none, or does work of its own before, is a task of its own, child of whoever posted it. Which it is, the trace
// tells: a scope that ended before the task was resumed, or a millisecond, is work. Of a std::coroutine_handle<>
// as a job (and of schedule()) it is known.

#include <coroutine>
#include <type_traits>

#include <coroscope/config.hpp>
#include <coroscope/context.hpp>
#include <coroscope/detail/hand_over.hpp>
#include <coroscope/detail/location.hpp>
#include <coroscope/detail/task_state.hpp>

namespace coroscope {
namespace detail {

/// A job's identity: made when it is handed in. 24 bytes.
struct job_stamp {
    std::uint64_t task;
    context poster;
};
COROSCOPE_API job_stamp post_job(const void* location) noexcept;
/// The same of a job that does nothing but resume a coroutine.
COROSCOPE_API job_stamp post_resuming_job(const void* location) noexcept;
/// The same for the body of a thread: a task of its own, whatever it resumes.
COROSCOPE_API job_stamp post_thread(const void* location) noexcept;

/// Does a callable nothing but resume a coroutine? A handle, or what says so by a member type.
template <class Callable>
inline constexpr bool only_resumes = requires { typename Callable::resumes_coroutine; };
template <class Promise>
inline constexpr bool only_resumes<std::coroutine_handle<Promise>> = true;

/// Around the run of a job, on the thread that runs it.
class job_run {
public:
    COROSCOPE_API explicit job_run(const job_stamp& job) noexcept;
    COROSCOPE_API ~job_run();
    job_run(const job_run&) = delete;
    job_run& operator=(const job_run&) = delete;

private:
    task_state state_;
    int exceptions_;
    bool moves_;  ///< as moving_job_run: it runs on a stack that nobody told of
};

/// The same where a library may put the job's stack aside untold, and go on with it on another thread: nothing on a thread
/// refers to it, and where its end finds something else on its thread, that runs nobody's work afterwards.
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

/// While the stack of what runs here is put aside: its task is suspended, in an await at `location`, the address of a
/// std::source_location, and goes on where this ends, maybe on another thread.
class stack_pause {
public:
    COROSCOPE_API explicit stack_pause(const void* location) noexcept;
    COROSCOPE_API ~stack_pause();
    stack_pause(const stack_pause&) = delete;
    stack_pause& operator=(const stack_pause&) = delete;

private:
    resumer inside_;
};

/// A job that never runs.
COROSCOPE_API void cancel_job(const job_stamp& job) noexcept;

/// A job's stamp as its callable carries it through a queue. The last holder cancels the job if it never
/// ran; once a job has been copied nobody can tell which holder is the last, and nobody cancels it.
class job_ticket {
public:
    explicit job_ticket(job_stamp stamp) noexcept : stamp_(detail::moved(stamp)) {}
    job_ticket(job_ticket&& other) noexcept
        : stamp_(detail::moved(other.stamp_)), holds_(detail::taken(other.holds_)) {}
    job_ticket(const job_ticket& other) noexcept : stamp_(other.stamp_), holds_(false) {
        other.holds_ = false;
    }
    job_ticket& operator=(job_ticket other) noexcept {
        const job_stamp stamp = stamp_;
        const bool held = holds_;
        stamp_ = other.stamp_;
        holds_ = other.holds_;
        other.stamp_ = stamp;
        other.holds_ = held;
        return *this;
    }
    ~job_ticket() {
        if (holds_) cancel_job(stamp_);
    }

    /// The stamp, for the run that comes now.
    const job_stamp& redeem() noexcept {
        holds_ = false;
        return stamp_;
    }

private:
    job_stamp stamp_;
    mutable bool holds_ = true;
};

}  // namespace detail

inline namespace COROSCOPE_ABI {

/// A callable on its way through a queue. Move-only callables stay move-only.
template <class Callable, class Run = detail::job_run>
class stamped_job {
public:
    stamped_job(Callable callable, const void* location)
        : callable_(detail::moved(callable)),
          ticket_(detail::only_resumes<Callable> ? detail::post_resuming_job(location)
                                                 : detail::post_job(location)) {}

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

/// Wraps an executor that has `execute(f)` or `post(f)`; keeps a reference to it (or a copy where
/// `Executor` is a value type: executor_adaptor<any_executor>). As thread-safe as the executor.
template <class Executor>
class executor_adaptor {
public:
    explicit executor_adaptor(Executor executor) : executor_(static_cast<Executor&&>(executor)) {}

    template <class Callable>
    void execute(Callable&& callable,
                 std::source_location where = std::source_location::current()) {
        if constexpr (COROSCOPE_ENABLED != 0) {
            hand_in(stamped_job<std::decay_t<Callable>>(static_cast<Callable&&>(callable),
                                                        detail::location_address(where)));
        } else {
            hand_in(static_cast<Callable&&>(callable));
        }
    }
    template <class Callable>
    void post(Callable&& callable, std::source_location where = std::source_location::current()) {
        execute(static_cast<Callable&&>(callable), where);
    }

    /// `co_await adaptor.schedule()` goes on on the executor: on a copy of one that is held by value, so that the adaptor
    /// may belong to the coroutine. One that can only be moved must outlive its call.
    auto schedule(std::source_location where = std::source_location::current()) noexcept {
        return hop(*this, where);
    }

private:
    class hop {
    public:
        hop(executor_adaptor& executor, std::source_location where) noexcept
            : executor_(&executor), where_(where) {}
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> waiter) const {
            // The coroutine may run elsewhere, and the adaptor in its frame be gone, before the executor's call returns.
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

    template <class Job>
    void hand_in(Job&& job) {
        if constexpr (requires { executor_.execute(static_cast<Job&&>(job)); }) {
            executor_.execute(static_cast<Job&&>(job));
        } else {
            executor_.post(static_cast<Job&&>(job));
        }
    }

    Executor executor_;
};

template <class Executor>
executor_adaptor(Executor&) -> executor_adaptor<Executor&>;

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
