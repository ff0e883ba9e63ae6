// SPDX-License-Identifier: Apache-2.0
#pragma once

// Coroutines that await a fake stream or event.

#include <chrono>
#include <thread>

#include <coroscope/integration/cuda_completion.hpp>
#include <coroscope/task.hpp>

#include "../runtime/support/foreign.hpp"
#include "fake_cudart.hpp"

namespace coroscope::test {

/// The result of a coroutine, and the thread on which it got it.
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

template <class... Executor>
task<outcome> awaited(cudaStream_t stream, Executor&... executor) {
    outcome result;
    result.put(co_await COROSCOPE_AWAIT("upload", cuda::completion(stream, executor...)));
    co_return result;
}

/// A thread that acts as the device as soon as a coroutine waits for the stream.
template <class Act>
std::thread when_awaited(fake_stream& stream, Act act) {
    return std::thread([&stream, act] {
        while (stream.enqueued() < 2) std::this_thread::yield();  // the work and a callback
        act(stream);
    });
}
inline void complete(fake_stream& stream) { stream.complete(); }
inline void complete_late(fake_stream& stream) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    stream.complete();
}

}  // namespace coroscope::test
