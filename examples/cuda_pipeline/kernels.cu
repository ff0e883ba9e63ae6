// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

namespace cuda_pipeline {
namespace {

__global__ void step(std::uint32_t* data, std::size_t size, std::uint32_t factor) {
    const std::size_t at = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (at < size) data[at] = data[at] * factor + 1;
}

__global__ void nothing() {}

constexpr unsigned block = 256;

}  // namespace

cudaError_t launch_step(std::uint32_t* data, std::size_t size, std::uint32_t factor,
                        cudaStream_t stream) {
    step<<<static_cast<unsigned>((size + block - 1) / block), block, 0, stream>>>(data, size,
                                                                                  factor);
    return cudaGetLastError();
}

cudaError_t launch_nothing(cudaStream_t stream) {
    nothing<<<1, 1, 0, stream>>>();
    return cudaGetLastError();
}

}  // namespace cuda_pipeline
