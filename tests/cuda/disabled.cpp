// SPDX-License-Identifier: Apache-2.0

// A file of the program that is built without the profiler: awaiting and ranges work, and nothing
// is recorded.
#define COROSCOPE_ENABLED 0

#include <coroscope/coroscope.hpp>
#include <coroscope/integration/cuda_completion.hpp>

#include "disabled.hpp"

namespace coroscope::test {
namespace {

task<int> await_three_times(cudaStream_t stream, thread_executor& executor) {
    int failures = 0;
    failures += co_await cuda::completion(stream) != cudaSuccess ? 1 : 0;
    failures += co_await cuda::polling(stream, executor) != cudaSuccess ? 1 : 0;
    failures +=
        co_await COROSCOPE_AWAIT("disabled", cuda::completion(stream, executor)) != cudaSuccess ? 1
                                                                                                : 0;
    co_return failures;
}

}  // namespace

int await_disabled(cudaStream_t stream, thread_executor& executor) {
    const range ends("disabled range");
    const cudaError_t attached = call_end_callbacks_on_stream(ends, stream);
    const int failures = sync_wait(await_three_times(stream, executor));
    return failures + (attached == cudaSuccess && ends.ended() ? 0 : 1);
}

}  // namespace coroscope::test
