// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

namespace coroscope::test {

/// Polls and awaits an idle stream in code that is compiled without exceptions. Returns the sum of
/// the answers.
int await_without_exceptions(cudaStream_t stream);

}  // namespace coroscope::test
