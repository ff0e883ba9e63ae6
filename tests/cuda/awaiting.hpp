// SPDX-License-Identifier: Apache-2.0
#pragma once

// Coroutines that await a stream or an event of the tests' own.

#include <thread>

#include <coroscope/integration/cuda_completion.hpp>

#include "../runtime/support/foreign.hpp"
#include "fake_cudart.hpp"

namespace coroscope::test {

/// What a coroutine left behind.
struct outcome {
    int answer = -1;
    std::thread::id on;
    void put(cudaError_t result) {
        on = std::this_thread::get_id();
        answer = static_cast<int>(result);
    }
};
using coroutine = foreign::manual<foreign::declared>;

template <class Work, class Executor>
coroutine await_on(Work work, Executor& executor, outcome& result) {
    result.put(co_await cuda::completion(work, executor));
}

template <class Work, class Executor>
coroutine poll_on(Work work, Executor& executor, outcome& result) {
    result.put(co_await cuda::polling(work, executor));
}

}  // namespace coroscope::test
