// SPDX-License-Identifier: Apache-2.0
#pragma once

// What cuda_completion.hpp awaits: a stream or an event, how it is looked at, and how it tells. Not for programs.

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstdint>
#include <utility>

#include <coroscope/detail/device_notes.hpp>
#include <coroscope/detail/device_wait.hpp>

namespace coroscope::cuda::detail {

using coroscope::detail::device_wait;
using coroscope::detail::device_wait_ptr;
using coroscope::detail::device_waiter;
using coroscope::detail::noted_event_wait;

/// Does the program's default stream belong to each thread?
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
inline constexpr bool default_stream_is_per_thread = true;
#else
inline constexpr bool default_stream_is_per_thread = false;
#endif

/// Tells the session what a suspension of `task` waits for, which begins now on this thread.
inline noted_event_wait note_wait(cudaStream_t stream, std::uint64_t task) noexcept {
    coroscope::detail::note_stream_wait(stream, task, default_stream_is_per_thread);
    return {};
}
inline noted_event_wait note_wait(cudaEvent_t event, std::uint64_t task) noexcept {
    return coroscope::detail::note_event_wait(event, task);
}

/// What is awaited. An event of its own stands for a default stream, whose handle means another stream elsewhere.
class awaited_work {
public:
    explicit awaited_work(cudaStream_t stream) noexcept : stream_(stream) {}
    explicit awaited_work(cudaEvent_t event) noexcept : event_(event), is_stream_(false) {}
    template <class Work>
    awaited_work(Work work, const noted_event_wait& noted) noexcept : awaited_work(work) {
        noted_ = noted;
    }
    awaited_work(awaited_work&& other) noexcept
        : stream_(other.stream_),
          event_(other.event_),
          noted_(other.noted_),
          device_(other.device_),
          is_stream_(other.is_stream_),
          owns_event_(std::exchange(other.owns_event_, false)) {}
    awaited_work& operator=(awaited_work&&) = delete;
    ~awaited_work() {
        if (owns_event_) static_cast<void>(cudaEventDestroy(event_));
    }

    cudaStream_t stream() const noexcept { return stream_; }
    bool is_stream() const noexcept { return is_stream_; }

    /// `pending`, or what CUDA answers. That it is not ready is no error of the thread's, and is not left behind.
    int look() const noexcept {
        const cudaError_t answer =
            event_ != nullptr ? cudaEventQuery(event_) : cudaStreamQuery(stream_);
        if (answer != cudaErrorNotReady) return static_cast<int>(answer);
        if (cudaPeekAtLastError() == cudaErrorNotReady) static_cast<void>(cudaGetLastError());
        return device_wait::pending;
    }

    /// Tells the session what a suspension of `task` waits for, which begins now on this thread.
    void note_wait(std::uint64_t task) noexcept {
        noted_ = is_stream_ ? detail::note_wait(stream_, task) : detail::note_wait(event_, task);
    }

    /// Where it has been noted: asks again.
    int look_again() noexcept {
        coroscope::detail::look_at_event(noted_, event_);
        return look();
    }
    /// Its answer has come. In the context of the task that waits.
    void note_told(std::uint64_t task) const noexcept {
        coroscope::detail::note_event_told(noted_, task);
    }

    /// The same on the waking thread: on the awaiting thread's device, and in the way of nobody's graph.
    int look_from_elsewhere() noexcept {
        cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
        static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode));
        static_cast<void>(cudaSetDevice(device_));
        return look_again();
    }

    /// On the awaiting thread; other threads can look from here on.
    cudaError_t prepare() noexcept {
        if (const cudaError_t failed = cudaGetDevice(&device_); failed != cudaSuccess)
            return failed;
        if (!is_default_stream()) return cudaSuccess;
        const cudaError_t failed = cudaEventCreateWithFlags(&event_, cudaEventDisableTiming);
        owns_event_ = failed == cudaSuccess;
        return owns_event_ ? cudaEventRecord(event_, stream_) : failed;
    }

private:
    bool is_default_stream() const noexcept {
        return is_stream_ && (stream_ == nullptr || stream_ == cudaStreamLegacy ||
                              stream_ == cudaStreamPerThread);
    }

    cudaStream_t stream_ = nullptr;
    cudaEvent_t event_ = nullptr;
    noted_event_wait noted_;  ///< of an event
    int device_ = 0;
    bool is_stream_ = true;
    bool owns_event_ = false;
};

/// Has the stream tell `told` when it comes to here; the waking thread looks in case that it never does.
inline cudaError_t tell_by_callback(cudaStream_t stream, device_wait_ptr told) noexcept {
    if (!coroscope::detail::start_waking_thread()) return cudaErrorOperatingSystem;
    const auto callback = [](void* expected) noexcept {
        auto& wait = *static_cast<device_wait*>(expected);
        wait.tell(cudaSuccess);
        wait.callback_done();
    };
    told->expect_callback();
    const cudaError_t failed = cudaLaunchHostFunc(stream, callback, told.get());
    if (failed != cudaSuccess)
        told->callback_done();
    else
        watch(std::move(told), coroscope::detail::look_again::seldom);
    return failed;
}

/// Has the waking thread look.
inline cudaError_t tell_by_looking(device_wait_ptr told) noexcept {
    if (!coroscope::detail::start_waking_thread()) return cudaErrorOperatingSystem;
    watch(std::move(told), coroscope::detail::look_again::often);
    return cudaSuccess;
}

/// Streams and events.
template <class Work>
concept awaitable = std::same_as<Work, cudaStream_t> || std::same_as<Work, cudaEvent_t>;

}  // namespace coroscope::cuda::detail
