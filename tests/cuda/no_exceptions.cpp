// SPDX-License-Identifier: Apache-2.0
#include "no_exceptions.hpp"

#include <coroutine>

#include <coroscope/integration/cuda_completion.hpp>

namespace coroscope::test {
namespace {

struct inline_executor {
    template <class Job>
    void execute(Job next) {
        next();
    }
};

/// Local to this file, so that nothing in other files is compiled without exceptions.
struct plain {
    struct promise_type {
        plain get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void unhandled_exception() const noexcept {}
        void return_void() const noexcept {}
    };
};

plain await_both(cudaStream_t stream, inline_executor& executor, int& sum) {
    sum += co_await cuda::polling(stream, executor);
    sum += co_await cuda::completion(stream, executor);
}

}  // namespace

int await_without_exceptions(cudaStream_t stream) {
    inline_executor executor;
    int sum = 0;
    await_both(stream, executor, sum);
    return sum;
}

}  // namespace coroscope::test
