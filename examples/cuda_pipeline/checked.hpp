// SPDX-License-Identifier: Apache-2.0
#pragma once

// Turns CUDA's errors into exceptions, and gives its resources owners.

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>

namespace cuda_pipeline {

inline void check(cudaError_t error, const char* what) {
    if (error != cudaSuccess)
        throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

class owned_stream {
public:
    owned_stream() {
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    }
    owned_stream(owned_stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
    owned_stream& operator=(owned_stream&&) = delete;
    ~owned_stream() {
        if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
    }
    cudaStream_t get() const { return stream_; }

private:
    cudaStream_t stream_ = nullptr;
};

/// Memory for `size` elements: on the device, or on the host in memory that asynchronous copies can
/// use.
template <class Element>
class owned_memory {
public:
    enum class where { device, host };
    owned_memory(std::size_t size, where at) : at_(at) {
        void* made = nullptr;
        const std::size_t bytes = size * sizeof(Element);
        check(at == where::device ? cudaMalloc(&made, bytes) : cudaMallocHost(&made, bytes),
              "cudaMalloc");
        data_ = static_cast<Element*>(made);
    }
    owned_memory(owned_memory&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), at_(other.at_) {}
    owned_memory& operator=(owned_memory&&) = delete;
    ~owned_memory() {
        if (data_ != nullptr)
            static_cast<void>(at_ == where::device ? cudaFree(data_) : cudaFreeHost(data_));
    }
    Element* get() const { return data_; }

private:
    Element* data_ = nullptr;
    where at_;
};

}  // namespace cuda_pipeline
