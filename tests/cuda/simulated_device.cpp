// SPDX-License-Identifier: Apache-2.0

// The part of CUDA that examples/cuda_pipeline uses, on this machine's processor: memory and copies
// at once, streams that a thread completes a little later, and the records of CUPTI for each launch
// and set.

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include <cuda_runtime_api.h>

#include "../../examples/cuda_pipeline/kernels.hpp"
#include "fake_cudart.hpp"
#include "fake_cupti.hpp"

using namespace coroscope::test;

namespace {

class simulated_device {
public:
    simulated_device() : thread_([this](const std::stop_token& stop) { serve(stop); }) {}

    cudaStream_t make_stream() {
        const std::lock_guard lock(mutex_);
        return streams_.emplace_back().handle();
    }
    // Numbers streams like CUPTI, from 7 on.
    std::uint32_t number_of(cudaStream_t stream) {
        const std::lock_guard lock(mutex_);
        std::uint32_t number = 7;
        for (fake_stream& each : streams_) {
            if (each.handle() == stream) return number;
            ++number;
        }
        return 0;
    }

private:
    void serve(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
            for (std::size_t at = 0; fake_stream* const stream = find(at); ++at) stream->complete();
        }
    }
    fake_stream* find(std::size_t at) {
        const std::lock_guard lock(mutex_);
        return at < streams_.size() ? &streams_[at] : nullptr;
    }

    std::mutex mutex_;
    std::deque<fake_stream> streams_;
    std::jthread thread_;
};

simulated_device& device() {
    static simulated_device only;
    return only;
}

cudaError_t allocate(void** made, std::size_t bytes) {
    *made = std::malloc(bytes);
    return *made == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t release(void* memory) {
    std::free(memory);
    return cudaSuccess;
}

}  // namespace

namespace cuda_pipeline {

cudaError_t launch_step(std::uint32_t* data, std::size_t size, std::uint32_t factor,
                        cudaStream_t stream) {
    for (std::size_t at = 0; at < size; ++at) data[at] = data[at] * factor + 1;
    fake_stream::of(stream).work();
    fake_cupti::call_launch({.kernel = "step",
                             .stream = device().number_of(stream),
                             .queued_ns = fake_cupti::now_ns()});
    return cudaSuccess;
}

}  // namespace cuda_pipeline

extern "C" {

cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    *stream = device().make_stream();
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t CUDARTAPI cudaMalloc(void** made, std::size_t bytes) { return allocate(made, bytes); }
cudaError_t CUDARTAPI cudaMallocHost(void** made, std::size_t bytes) {
    return allocate(made, bytes);
}
cudaError_t CUDARTAPI cudaFree(void* memory) { return release(memory); }
cudaError_t CUDARTAPI cudaFreeHost(void* memory) { return release(memory); }
cudaError_t CUDARTAPI cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                                      cudaStream_t stream) {
    std::memcpy(to, from, bytes);
    fake_stream::of(stream).work();
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
    std::memset(to, value, bytes);
    fake_stream::of(stream).work();
    CUpti_ActivityMemset4 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    record.bytes = bytes;
    record.start = fake_cupti::now_ns();
    record.end = record.start + 500;
    record.contextId = 1;
    record.streamId = device().number_of(stream);
    fake_cupti::append(record);
    return cudaSuccess;
}
const char* CUDARTAPI cudaGetErrorString(cudaError_t) { return "a simulated error"; }
}
