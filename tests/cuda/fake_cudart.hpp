// SPDX-License-Identifier: Apache-2.0
#pragma once

// A fake CUDA runtime: the functions that awaiting needs, over streams that a test controls. As in
// CUDA, host functions run in order, are not called after an error, and hold their stream back.

#include <deque>
#include <mutex>

#include <cuda_runtime_api.h>

namespace coroscope::test {

class fake_stream {
public:
    cudaStream_t handle() { return reinterpret_cast<cudaStream_t>(this); }
    static fake_stream& of(cudaStream_t handle);

    /// Enqueues work for the device. Later items wait for complete().
    void work();
    /// Completes all enqueued items on this thread, including host functions.
    void complete();
    /// Completes the oldest item.
    void complete_one();
    /// From here on every call returns this error, and no host function is called.
    void fail(cudaError_t error);
    /// As after cudaDeviceReset(): the enqueued items are lost, and the stream is idle.
    void lose_everything();
    /// From here on cudaLaunchHostFunc returns this error.
    void refuse_callbacks(cudaError_t error);

    std::size_t enqueued();

    cudaError_t query();
    cudaError_t enqueue(cudaHostFn_t function, void* data);
    cudaError_t query_up_to(std::size_t position);
    std::size_t position();

private:
    struct item {
        cudaHostFn_t function;  // null: work
        void* data;
    };

    bool do_first(std::unique_lock<std::mutex>& lock);

    std::mutex mutex_;
    std::deque<item> items_;
    std::size_t done_ = 0;
    cudaError_t failed_ = cudaSuccess;
    cudaError_t refused_ = cudaSuccess;
};

class fake_event {
public:
    cudaEvent_t handle() { return reinterpret_cast<cudaEvent_t>(this); }
    static fake_event& of(cudaEvent_t handle);

    /// Records the event after all items of `stream`.
    void record(fake_stream& stream);
    cudaError_t query();

private:
    std::mutex mutex_;
    fake_stream* stream_ = nullptr;
    std::size_t position_ = 0;
};

struct fake_counts {
    int events_alive;        ///< created and not destroyed
    int calls_in_callbacks;  ///< CUDA does not allow them
    int queries;             ///< of streams and events
};
fake_counts fake_cuda_counts();

/// Until let_go(), each thread that queries a stream or an event stays inside that call. Only one
/// object at a time.
class held_queries {
public:
    held_queries();
    held_queries(const held_queries&) = delete;
    held_queries& operator=(const held_queries&) = delete;
    ~held_queries() { let_go(); }

    void let_go();
    void wait_for_one() const;
    int inside() const;
};

}  // namespace coroscope::test
