// SPDX-License-Identifier: Apache-2.0
#pragma once

// The awaited work of cuda_completion.hpp: a stream or an event, the look at it, and its
// notification. Programs should not use this header.

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

/// Whether each thread of the program has a default stream of its own.
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
inline constexpr bool default_stream_is_per_thread = true;
#else
inline constexpr bool default_stream_is_per_thread = false;
#endif

/// Records the stream or event that a suspension of `task` waits for. The suspension must begin
/// now, on this thread.
inline noted_event_wait note_wait(cudaStream_t stream, std::uint64_t task) noexcept {
    coroscope::detail::note_stream_wait(stream, task, default_stream_is_per_thread);
    return {};
}
inline noted_event_wait note_wait(cudaEvent_t event, std::uint64_t task) noexcept {
    return coroscope::detail::note_event_wait(event, task);
}

/// The awaited work. A default stream's handle means another stream on another thread, so an event
/// of our own replaces it.
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

    /// Returns `pending` or CUDA's answer. cudaErrorNotReady is not an error of the thread, so it
    /// is removed from the thread's last error.
    int look() const noexcept {
        const cudaError_t answer =
            event_ != nullptr ? cudaEventQuery(event_) : cudaStreamQuery(stream_);
        if (answer != cudaErrorNotReady) return static_cast<int>(answer);
        if (cudaPeekAtLastError() == cudaErrorNotReady) static_cast<void>(cudaGetLastError());
        return device_wait::pending;
    }

    /// As the function above, for this work.
    void note_wait(std::uint64_t task) noexcept {
        noted_ = is_stream_ ? detail::note_wait(stream_, task) : detail::note_wait(event_, task);
    }

    /// Checks the noted event for a later recording, then looks.
    int look_again() noexcept {
        coroscope::detail::look_at_event(noted_, event_);
        return look();
    }
    /// The answer has arrived. Must be called in the context of the waiting task.
    void note_told(std::uint64_t task) const noexcept {
        coroscope::detail::note_event_told(noted_, task);
    }

    /// As look_again(), on the waking thread: on the device of the awaiting thread, and without an
    /// effect on the capture of a graph.
    int look_from_elsewhere() noexcept {
        cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
        static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode));
        static_cast<void>(cudaSetDevice(device_));
        return look_again();
    }

    /// Must be called on the awaiting thread. From then on other threads can look.
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

/// Lets the stream's callback notify `told` when the stream reaches this point. The waking thread
/// also looks, in case the callback never comes.
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
        coroscope::detail::watch(std::move(told), coroscope::detail::look_again::seldom);
    return failed;
}

/// Lets the waking thread look.
inline cudaError_t tell_by_looking(device_wait_ptr told) noexcept {
    if (!coroscope::detail::start_waking_thread()) return cudaErrorOperatingSystem;
    coroscope::detail::watch(std::move(told), coroscope::detail::look_again::often);
    return cudaSuccess;
}

/// Streams and events.
template <class Work>
concept awaitable = std::same_as<Work, cudaStream_t> || std::same_as<Work, cudaEvent_t>;

}  // namespace coroscope::cuda::detail
