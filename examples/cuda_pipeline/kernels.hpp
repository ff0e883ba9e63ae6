// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernels, for host code of any compiler. Each launch is asynchronous, on any thread.

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace cuda_pipeline {

/// data[i] = data[i] * factor + 1, modulo 2^32.
cudaError_t launch_step(std::uint32_t* data, std::size_t size, std::uint32_t factor,
                        cudaStream_t stream);

/// Does nothing, to measure the cost of a launch alone.
cudaError_t launch_nothing(cudaStream_t stream);

}  // namespace cuda_pipeline
