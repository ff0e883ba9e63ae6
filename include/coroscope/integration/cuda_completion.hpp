// SPDX-License-Identifier: Apache-2.0
#pragma once

// Awaiting CUDA, from any coroutine:
//
//   cudaMemcpyAsync(…, stream);
//   kernel<<<blocks, threads, 0, stream>>>(…);
//   const cudaError_t outcome = co_await coroscope::cuda::completion(stream, pool);   // goes on in the pool
//
//   completion(stream, executor)   all that the stream was asked to do until here. The stream's own callback
//                                  (cudaLaunchHostFunc) tells; it runs no more than the executor's post
//   completion(event, executor)    that event alone. The library's waking thread looks, after an eighth of the time
//                                  that it has waited, at most 1 ms
//   polling(stream, executor)      the executor's own threads look, again and again, and go on where they find it: no
//   polling(event, executor)       hop and no callback, but busy threads. Until the stream has nothing left to do,
//                                  others' work included
//
// The executor is whatever executor_adaptor takes: a reference to something that outlives the await, or a value. It
// must not run work inside its post, because CUDA may not be called from a stream's callback. Without one the
// coroutine goes on on the waking thread, which all such coroutines share: give one to what runs long or blocks.
//
// Each gives the stream's answer, a cudaError_t. What is complete already, and what fails at once, does not suspend.
// A fault of the device or the end of its context comes as its error, at the latest 50 ms after. The wake of the
// task is the moment at which it was told, or, by polling, the moment at which it goes on. In a session that records
// devices an await is explained by what its stream did meanwhile, of what it had been asked for before the co_await, or
// before the event was recorded, and by what it made that stream wait for other streams.
//
// The stream or event must live until the coroutine goes on or is destroyed. A coroutine may be destroyed while
// it waits: it is forgotten, also if it is queued already; the executor is not used from then on. An awaiter belongs to its
// coroutine; any number of coroutines may await one stream. For CUDA's default streams an event of this header's own is
// looked at, so the device that they belong to is the awaiting thread's.

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

/// In place of an executor: the waking thread.
struct on_waking_thread {};

template <class Executor, class Job>
concept stamps_jobs = requires(Executor& executor, Job job, std::source_location where) {
    executor.execute(std::move(job), where);
};

/// A coroutine that waits, and the executor (maybe a reference) on which it goes on.
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

/// Told by a callback or by the waking thread; what tells hands a job to the executor.
template <class Executor>
class told_wait final : public executed_wait<Executor> {
public:
    using executed_wait<Executor>::executed_wait;

    static cudaError_t begin(const coroscope::detail::counted_ptr<told_wait>& wait) noexcept {
        if (const cudaError_t failed = wait->work_.prepare(); failed != cudaSuccess) return failed;
        retain(*wait);
        device_wait_ptr told(wait.get());
        return wait->work_.is_stream() ? tell_by_callback(wait->work_.stream(), std::move(told))
                                       : tell_by_looking(std::move(told));
    }

private:
    struct job {
        using resumes_coroutine = void;
        coroscope::detail::counted_ptr<told_wait> wait;
        void operator()() const { wait->resume(); }
    };

    // The job is handed in by the awaiting task: its session records the wake.
    void when_told() noexcept override {
        if (this->forgotten()) return;
        const context_guard guard(this->awaiting());
        this->work_.note_told(this->awaiting().task);
        if constexpr (std::is_same_v<Executor, on_waking_thread>) {
            this->resume_on_waking_thread();
        } else {
            COROSCOPE_DETAIL_TRY { hand_in_job(); }
            COROSCOPE_DETAIL_CATCH(...) {  // an executor that takes no more
                this->resume_on_waking_thread();
            }
        }
    }

    void hand_in_job() {
        retain(*this);
        job resumes{coroscope::detail::counted_ptr<told_wait>(this)};
        if constexpr (COROSCOPE_ENABLED != 0 && !stamps_jobs<Executor, job>) {
            this->hand_in(stamped_job<job>(std::move(resumes), this->location()));
        } else {
            this->hand_in(std::move(resumes));
        }
    }
};

/// Jobs of the executor look until they find it.
template <class Executor>
class polled_wait final : public executed_wait<Executor> {
public:
    using executed_wait<Executor>::executed_wait;

    /// On return nobody looks any more, and the executor is not used, but for the call that this one is made in: an
    /// executor may run other jobs in it, one of which destroys the coroutine.
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

    /// A poll on this thread.
    struct poll_here {
        const polled_wait* wait;
        const poll_here* outer;
    };

    void poll(const job& again) noexcept {
        // Sequentially consistent, as forget() is: either it finds the poll, or the poll that it was forgotten.
        __atomic_fetch_add(&polls_, 1U, __ATOMIC_SEQ_CST);
        const poll_here here{this, innermost_};
        innermost_ = &here;
        const int answer = this->forgotten() ? device_wait::pending : look_or_hand_in(again);
        innermost_ = here.outer;
        __atomic_fetch_sub(&polls_, 1U, __ATOMIC_SEQ_CST);
        if (answer != device_wait::pending) this->tell(answer);
    }

    /// The answer, or `pending` where somebody will look again.
    int look_or_hand_in(const job& again) noexcept {
        const int answer = this->work_.look_again();
        if (answer != device_wait::pending) return answer;
        COROSCOPE_DETAIL_TRY { this->hand_in(again); }
        COROSCOPE_DETAIL_CATCH(...) {  // an executor that takes no more
            retain(*this);
            if (const cudaError_t failed = tell_by_looking(device_wait_ptr(this));
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
    std::uint32_t polls_ = 0;  ///< that look, or use the executor
};

/// What completion() and polling() give.
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

    /// By a task's own coroutine. What another coroutine awaits meanwhile is no suspension of the task.
    void coroscope_suspends(const coroscope::detail::task_state& task) noexcept {
        if ((task.flags & coroscope::detail::task_installed) != 0) work_.note_wait(task.task);
    }

    /// Throws what the executor's post throws, where polling begins.
    bool await_suspend(std::coroutine_handle<> waiter) {
        const coroscope::detail::counted_ptr<Wait> wait(new (std::nothrow) Wait(
            waiter, std::move(work_), static_cast<Executor&&>(executor_), where_));
        if (!wait) return answer_with(cudaErrorMemoryAllocation);
        wait_ = wait;
        // The coroutine may run elsewhere, and this awaiter be gone, before a call that succeeds returns.
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

/// The end of a range, when a stream comes to here.
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
    return told ? tell_by_callback(stream, std::move(told)) : cudaErrorMemoryAllocation;
}

}  // namespace cuda::detail

namespace cuda {
inline namespace COROSCOPE_ABI {

/// Goes on on the executor; see above. Awaits what the stream was asked for up to the co_await.
template <detail::awaitable Work, class Executor>
auto completion(Work work, Executor&& executor,
                std::source_location where = std::source_location::current()) noexcept {
    return detail::device_awaiter<detail::told_wait<Executor>, Executor>(
        detail::awaited_work(work), static_cast<Executor&&>(executor), where);
}

/// Goes on on the waking thread.
template <detail::awaitable Work>
auto completion(Work work, std::source_location where = std::source_location::current()) noexcept {
    return completion(work, detail::on_waking_thread{}, where);
}

/// The executor's threads look, by jobs that post themselves again.
template <detail::awaitable Work, class Executor>
auto polling(Work work, Executor&& executor,
             std::source_location where = std::source_location::current()) noexcept {
    return detail::device_awaiter<detail::polled_wait<Executor>, Executor>(
        detail::awaited_work(work), static_cast<Executor&&>(executor), where);
}

}  // namespace COROSCOPE_ABI
}  // namespace cuda

/// Ends `ends` when the stream has done what it was asked for until here, or has failed: what
/// call_end_callbacks_on_future does for a future. The end callbacks run on the stream's callback, where CUDA must not
/// be called, or, where it failed, on the waking thread; here and now where the stream is idle. Gives CUDA's error
/// where the stream cannot tell: the range has ended then. The stream must live until it comes to here or fails. A
/// range that is attached already is refused as there, with cudaErrorInvalidValue, and its first attachment stays. In
/// a session that records devices, what the range asked the stream for until here gives it start, end, time and queue
/// on the device (`coroscope ranges`).
inline cudaError_t call_end_callbacks_on_stream(const range& ends, cudaStream_t stream) noexcept {
    return cuda::detail::end_on_stream(ends.coroscope_state().get(), stream);
}

/// The same for a range that the caller keeps: see call_end_callbacks_on_future.
inline cudaError_t call_end_callbacks_on_stream(record_function& ends,
                                                cudaStream_t stream) noexcept {
    return cuda::detail::end_on_stream(ends.coroscope_state(), stream);
}

}  // namespace coroscope
