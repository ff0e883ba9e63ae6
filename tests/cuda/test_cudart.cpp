// SPDX-License-Identifier: Apache-2.0

// CUDA's own runtime, with or without a GPU: an await returns the runtime's answer, and nothing
// hangs.

#include <coroscope/integration/cuda_completion.hpp>

#include <coroscope/coroscope.hpp>
#include <doctest/doctest.h>

#include "../runtime/support/executors.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

task<cudaError_t> awaits(cudaStream_t stream) { co_return co_await cuda::completion(stream); }
task<cudaError_t> polls(cudaStream_t stream, manual_executor& executor) {
    co_return co_await cuda::polling(stream, executor);
}

}  // namespace

TEST_SUITE("CUDA's runtime") {
    TEST_CASE("awaiting an idle default stream returns CUDA's own answer") {
        manual_executor executor;
        const cudaError_t expected = cudaStreamQuery(cudaStreamLegacy);
        CHECK(sync_wait(awaits(cudaStreamLegacy)) == expected);
        CHECK(sync_wait(polls(cudaStreamLegacy, executor)) == expected);
    }

    TEST_CASE("a range on a default stream ends") {
        const range ends("ends");
        CHECK(call_end_callbacks_on_stream(ends, cudaStreamLegacy) ==
              cudaStreamQuery(cudaStreamLegacy));
        CHECK(ends.ended());
    }
}
