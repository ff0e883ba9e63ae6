// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "../runtime/support/executors.hpp"

namespace coroscope::test {

/// Awaits the stream in every way, and ends a range on it. Returns the number of failures.
int await_disabled(cudaStream_t stream, thread_executor& executor);

}  // namespace coroscope::test
