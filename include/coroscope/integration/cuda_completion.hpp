// SPDX-License-Identifier: Apache-2.0
#pragma once

// Awaiting CUDA, from any coroutine:
//
//   cudaMemcpyAsync(…, stream);
//   kernel<<<blocks, threads, 0, stream>>>(…);
//   // The coroutine goes on in the pool:
//   const cudaError_t outcome = co_await coroscope::cuda::completion(stream, pool);
//
// - `completion(stream, executor)` waits for all work that the stream was asked to do until here.
//   The stream's own callback (cudaLaunchHostFunc) reports completion; it only calls the executor's
//   post.
// - `completion(event, executor)` waits for that event alone. The library's waking thread checks
//   the event, each time after an eighth of the time waited so far, at most 1 ms.
// - `polling(stream, executor)` and `polling(event, executor)` wait until a check finds the work
//   done. The executor's own threads check repeatedly, and the coroutine goes on in the thread that
//   finds the work done. The coroutine changes no thread and needs no callback, but the threads are
//   busy. A stream counts as done when it has no work left, including work that others requested
//   later.
//
// The executor must be accepted by executor_adaptor: either a reference to an object that outlives
// the await, or a value. Its post must not run work inside the call, because CUDA must not be
// called from a stream's callback. Without an executor the coroutine goes on in the waking thread,
// which all such coroutines share. A coroutine that runs long or blocks should therefore name an
// executor.
//
// Each await returns the stream's answer, a cudaError_t. Work that is complete already, and a call
// that fails at once, do not suspend. A fault of the device, or the end of its context, arrives as
// its error within 50 ms. The wake of the task is the moment of the report or, with polling, the
// moment at which the coroutine goes on. A session that records devices also records the work for
// which an await waited: the stream's activities that were requested before the co_await (or before
// the event was recorded), and the other streams for which the stream had to wait.
//
// The stream or event must live until the coroutine goes on or is destroyed. A coroutine may be
// destroyed while it waits, even if it is queued already; the executor is not used from then on. An
// awaiter belongs to its coroutine. Any number of coroutines may await one stream. For CUDA's
// default streams this header records and checks an event of its own, so the awaiting thread's
// current device must be the one of the stream.

#include <cuda_runtime_api.h>
#include <sched.h>

#include <coroutine>
#include <cstdint>
#include <new>
#include <source_location>
#include <type_traits>
#include <utility>

#include <coroscope/config.hpp>
#include <coroscope/context.hpp>
#include <coroscope/detail/attachment.hpp>
#include <coroscope/detail/device_wait.hpp>
#include <coroscope/detail/exceptions.hpp>
#include <coroscope/detail/location.hpp>
#include <coroscope/detail/task_state.hpp>
#include <coroscope/executor_adaptor.hpp>
#include <coroscope/integration/cuda.hpp>
#include <coroscope/integration/cuda_work.hpp>
#include <coroscope/range.hpp>
#include <coroscope/record_function.hpp>

namespace coroscope {
namespace cuda::detail {

inline namespace COROSCOPE_ABI {

/// Replaces an executor: the coroutine goes on in the waking thread.
struct on_waking_thread {};

template <class Executor, class Job>
concept stamps_jobs = requires(Executor& executor, Job job, std::source_location where) {
    executor.execute(std::move(job), where);
};

/// A waiting coroutine, and the executor (maybe a reference) on which it goes on.
template <class Executor>
class executed_wait : public device_waiter {
public:
    executed_wait(std::coroutine_handle<> waiter, awaited_work&& work, Executor&& executor,
                  std::source_location where) noexcept
        : device_waiter(waiter, COROSCOPE_ENABLED != 0 ? coroscope::detail::location_address(where)
                                                       : nullptr),
          work_(std::move(work)),
          executor_(static_cast<Executor&&>(executor)),
          where_(where) {}

protected:
    int look() noexcept final { return work_.look_from_elsewhere(); }

    template <class Job>
    void hand_in(Job handed) {
        if constexpr (stamps_jobs<Executor, Job>) {
            executor_.execute(std::move(handed), where_);
        } else if constexpr (requires { executor_.execute(std::move(handed)); }) {
            executor_.execute(std::move(handed));
        } else {
            executor_.post(std::move(handed));
        }
    }

    awaited_work work_;
    [[no_unique_address]] Executor executor_;
    std::source_location where_;
};

/// A wait that a callback or the waking thread reports, and that then hands a job to the executor.
template <class Executor>
class told_wait final : public executed_wait<Executor> {
public:
    using executed_wait<Executor>::executed_wait;

    static cudaError_t begin(const coroscope::detail::counted_ptr<told_wait>& wait) noexcept {
        if (const cudaError_t failed = wait->work_.prepare(); failed != cudaSuccess) return failed;
        wait->retain();
        device_wait_ptr told(wait.get());
        return wait->work_.is_stream()
                   ? detail::tell_by_callback(wait->work_.stream(), std::move(told))
                   : detail::tell_by_looking(std::move(told));
    }

private:
    struct job {
        using resumes_coroutine = void;
        coroscope::detail::counted_ptr<told_wait> wait;
        void operator()() const { wait->resume(); }
    };

    // The awaiting task's context hands in the job, so that the task's session records the wake.
    void when_told() noexcept override {
        if (this->forgotten()) return;
        const context_guard guard(this->awaiting());
        this->work_.note_told(this->awaiting().task);
        if constexpr (std::is_same_v<Executor, on_waking_thread>) {
            this->resume_on_waking_thread();
        } else {
            COROSCOPE_DETAIL_TRY { hand_in_job(); }
            COROSCOPE_DETAIL_CATCH(...) {  // an executor that accepts no more work
                this->resume_on_waking_thread();
            }
        }
    }

    void hand_in_job() {
        this->retain();
        job resumes{coroscope::detail::counted_ptr<told_wait>(this)};
        if constexpr (COROSCOPE_ENABLED != 0 && !stamps_jobs<Executor, job>) {
            this->hand_in(stamped_job<job>(std::move(resumes), this->location()));
        } else {
            this->hand_in(std::move(resumes));
        }
    }
};

/// A wait that jobs of the executor check until it is complete.
template <class Executor>
class polled_wait final : public executed_wait<Executor> {
public:
    using executed_wait<Executor>::executed_wait;

    /// On return no other thread looks and the executor is not used, except by the call that
    /// contains this one: an executor may run other jobs inside a post, and one of them may destroy
    /// the coroutine.
    void forget() noexcept {
        if (this->forgotten()) return;  // it goes on, maybe inside a poll
        this->device_waiter::forget();
        std::uint32_t own = 0;
        for (const poll_here* each = innermost_; each != nullptr; each = each->outer)
            own += each->wait == this ? 1 : 0;
        while (__atomic_load_n(&polls_, __ATOMIC_SEQ_CST) != own) ::sched_yield();
    }

    static cudaError_t begin(const coroscope::detail::counted_ptr<polled_wait>& wait) {
        const cudaError_t failed = wait->work_.prepare();
        if (failed == cudaSuccess) wait->hand_in(job{wait});
        return failed;
    }

private:
    struct job {
        coroscope::detail::counted_ptr<polled_wait> wait;
        void operator()() const { wait->poll(*this); }
    };

    /// One poll on this thread's stack.
    struct poll_here {
        const polled_wait* wait;
        const poll_here* outer;
    };

    void poll(const job& again) noexcept {
        // Sequentially consistent, as in forget(): either forget() sees the poll, or the poll sees
        // that it was forgotten.
        __atomic_fetch_add(&polls_, 1U, __ATOMIC_SEQ_CST);
        const poll_here here{this, innermost_};
        innermost_ = &here;
        const int answer = this->forgotten() ? device_wait::pending : look_or_hand_in(again);
        innermost_ = here.outer;
        __atomic_fetch_sub(&polls_, 1U, __ATOMIC_SEQ_CST);
        if (answer != device_wait::pending) this->tell(answer);
    }

    /// Returns the answer, or `pending` if a later look is arranged.
    int look_or_hand_in(const job& again) noexcept {
        const int answer = this->work_.look_again();
        if (answer != device_wait::pending) return answer;
        COROSCOPE_DETAIL_TRY { this->hand_in(again); }
        COROSCOPE_DETAIL_CATCH(...) {  // an executor that accepts no more work
            this->retain();
            if (const cudaError_t failed = detail::tell_by_looking(device_wait_ptr(this));
                failed != cudaSuccess)
                return static_cast<int>(failed);
        }
        return device_wait::pending;
    }

    void when_told() noexcept override {
        {
            const context_guard guard(this->awaiting());
            this->work_.note_told(this->awaiting().task);
        }
        this->resume_handed_over();
    }

    // NOLINTNEXTLINE(readability-identifier-naming): private
    static inline thread_local const poll_here* innermost_ = nullptr;
    std::uint32_t polls_ = 0;  ///< polls that are looking or using the executor
};

/// The result of completion() and polling().
template <class Wait, class Executor>
class [[nodiscard]] device_awaiter {
public:
    device_awaiter(awaited_work work, Executor&& executor, std::source_location where) noexcept
        : work_(std::move(work)), executor_(static_cast<Executor&&>(executor)), where_(where) {}
    device_awaiter(const device_awaiter&) = delete;
    device_awaiter& operator=(const device_awaiter&) = delete;
    ~device_awaiter() {
        if (wait_) wait_->forget();
    }

    bool await_ready() noexcept {
        answer_ = work_.look();
        return answer_ != device_wait::pending;
    }

    /// Called if the coroutine is a task's own. An await of another coroutine inside the task is
    /// not a suspension of the task. The state may not be known yet, even though the task runs.
    void coroscope_suspends(const coroscope::detail::task_state& task) noexcept {
        const bool known = (task.flags & coroscope::detail::task_known) != 0;
        if (known && task.task != 0) work_.note_wait(task.task);
    }

    /// Throws the exceptions of the executor's post, when polling begins.
    bool await_suspend(std::coroutine_handle<> waiter) {
        const coroscope::detail::counted_ptr<Wait> wait(new (std::nothrow) Wait(
            waiter, std::move(work_), static_cast<Executor&&>(executor_), where_));
        if (!wait) return answer_with(cudaErrorMemoryAllocation);
        wait_ = wait;
        // If the call succeeds, the coroutine may run on another thread, and destroy this awaiter,
        // before it returns.
        const cudaError_t failed = Wait::begin(wait);
        return failed == cudaSuccess || answer_with(failed);
    }

    [[nodiscard]] cudaError_t await_resume() const noexcept {
        const int answer = answer_ == device_wait::pending ? wait_->result() : answer_;
        return static_cast<cudaError_t>(answer);
    }

private:
    bool answer_with(cudaError_t answer) noexcept {
        answer_ = static_cast<int>(answer);
        return false;
    }

    awaited_work work_;
    [[no_unique_address]] Executor executor_;
    std::source_location where_;
    coroscope::detail::counted_ptr<Wait> wait_;
    int answer_ = device_wait::pending;
};

}  // namespace COROSCOPE_ABI

/// Ends a range when a stream reaches this point.
class stream_end final : public device_wait {
public:
    stream_end(awaited_work&& work, range_end end) noexcept
        : work_(std::move(work)), end_(std::move(end)) {}

private:
    int look() noexcept override { return work_.look_from_elsewhere(); }
    void when_told() noexcept override { end_(); }

    awaited_work work_;
    range_end end_;
};

inline cudaError_t end_on_stream(coroscope::detail::range_state* state,
                                 cudaStream_t stream) noexcept {
    if (state == nullptr) return cudaSuccess;
    if (!coroscope::detail::attach(*state)) return cudaErrorInvalidValue;
    coroscope::detail::note_range_on_stream(*state, stream, default_stream_is_per_thread);
    range_end end(state);
    awaited_work work(stream);
    if (const int answer = work.look(); answer != device_wait::pending) {
        end();
        return static_cast<cudaError_t>(answer);
    }
    if (const cudaError_t failed = work.prepare(); failed != cudaSuccess) return failed;
    device_wait_ptr told(new (std::nothrow) stream_end(std::move(work), std::move(end)));
    return told ? detail::tell_by_callback(stream, std::move(told)) : cudaErrorMemoryAllocation;
}

}  // namespace cuda::detail

namespace cuda {
inline namespace COROSCOPE_ABI {

/// The coroutine goes on in the executor; see above. Waits for the work that the stream was asked
/// to do before the co_await.
template <detail::awaitable Work, class Executor>
auto completion(Work work, Executor&& executor,
                std::source_location where = std::source_location::current()) noexcept {
    return detail::device_awaiter<detail::told_wait<Executor>, Executor>(
        detail::awaited_work(work), static_cast<Executor&&>(executor), where);
}

/// The coroutine goes on in the waking thread.
template <detail::awaitable Work>
auto completion(Work work, std::source_location where = std::source_location::current()) noexcept {
    return cuda::completion(work, detail::on_waking_thread{}, where);
}

/// The executor's threads check the work, through jobs that post themselves again.
template <detail::awaitable Work, class Executor>
auto polling(Work work, Executor&& executor,
             std::source_location where = std::source_location::current()) noexcept {
    return detail::device_awaiter<detail::polled_wait<Executor>, Executor>(
        detail::awaited_work(work), static_cast<Executor&&>(executor), where);
}

}  // namespace COROSCOPE_ABI
}  // namespace cuda

/// Ends `ends` when the stream has done the work that it was asked to do until here, or has failed.
/// This is call_end_callbacks_on_future for a stream.
///
/// The end callbacks run in the stream's callback and must not call CUDA. If the stream failed,
/// they run in the waking thread; if the stream is idle, they run inside this call. The stream must
/// live until it reaches this point or fails.
///
/// Returns CUDA's error if the stream cannot report its progress; the range has ended then. A range
/// that is attached already is refused with cudaErrorInvalidValue, and its first attachment stays.
/// In a session that records devices, the range's requests to the stream until here give it start,
/// end, time and queue on the device (`coroscope ranges`).
inline cudaError_t call_end_callbacks_on_stream(const range& ends, cudaStream_t stream) noexcept {
    return cuda::detail::end_on_stream(ends.coroscope_state().get(), stream);
}

/// As above, for a range that the caller keeps: see call_end_callbacks_on_future.
inline cudaError_t call_end_callbacks_on_stream(record_function& ends,
                                                cudaStream_t stream) noexcept {
    return cuda::detail::end_on_stream(ends.coroscope_state(), stream);
}

}  // namespace coroscope
