// SPDX-License-Identifier: Apache-2.0

// The waking thread at forks and at the end of the process, against a fake CUDA runtime.

#include <coroscope/integration/cuda_completion.hpp>

#include <cstdlib>
#include <functional>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <coroscope/coroscope.hpp>
#include <doctest/doctest.h>

#include "../runtime/support/build.hpp"
#include "fake_cudart.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

task<int> awaited(cudaStream_t stream) {
    co_return static_cast<int>(co_await cuda::completion(stream));
}

task<int> awaited_and_exits(cudaStream_t stream, int code) {
    co_await cuda::completion(stream);
    std::exit(code);
}

/// Waits for a stream that a device thread completes.
int await_once() {
    fake_stream stream;
    stream.work();
    std::thread device([&stream] {
        while (stream.enqueued() < 2) std::this_thread::yield();
        stream.complete();
    });
    const int answer = sync_wait(awaited(stream.handle()));
    device.join();
    return answer;
}

/// The child's exit code, or -1. A child that hangs is killed by its alarm.
int code_of_child(const std::function<int()>& body) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::alarm(20);
        std::exit(body());
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// In a child a sanitizer's allocator and threads may still be those of the parent.
constexpr bool children_may_run = !sanitized;

}  // namespace

TEST_SUITE("waking thread") {
    TEST_CASE("a forked child has a waking thread of its own") {
        REQUIRE(await_once() == cudaSuccess);
        if (!children_may_run) {
            MESSAGE("SKIP: a sanitizer's child of several threads");
            return;
        }
        CHECK(code_of_child(await_once) == 0);
        CHECK(await_once() == cudaSuccess);
    }

    TEST_CASE("a process may end while coroutines wait") {
        if (!children_may_run) {
            MESSAGE("SKIP: a sanitizer's child of several threads");
            return;
        }
        CHECK(code_of_child([] {
                  static fake_stream stream;
                  stream.work();
                  std::thread([] { sync_wait(awaited(stream.handle())); }).detach();
                  while (stream.enqueued() < 2) std::this_thread::yield();
                  return 5;
              }) == 5);
    }

    TEST_CASE("a process may end in a coroutine that the waking thread runs") {
        if (!children_may_run) {
            MESSAGE("SKIP: a sanitizer's child of several threads");
            return;
        }
        CHECK(code_of_child([] {
                  static fake_stream stream;
                  stream.work();
                  std::thread device([] {
                      while (stream.enqueued() < 2) std::this_thread::yield();
                      stream.complete();
                  });
                  device.detach();
                  return sync_wait(awaited_and_exits(stream.handle(), 6));
              }) == 6);
    }
}
