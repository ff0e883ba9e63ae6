// SPDX-License-Identifier: Apache-2.0

// A coroutine goes on on another thread between its scopes, in a loop and one after the other: each begins for the
// thread that runs it then. Only the other thread observes; what began for the first one is missed.

#include <coroutine>
#include <cstdio>
#include <exception>
#include <thread>

#include <coroscope/coroscope.hpp>
#include <coroscope/observer.hpp>

namespace {

constexpr int turns = 10;

struct moving {
    struct promise_type {
        moving get_return_object() noexcept {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
    std::coroutine_handle<promise_type> frame;
};

[[gnu::noinline]] moving in_a_loop() {
    for (int turn = 0; turn < turns; ++turn) {
        COROSCOPE("turn");
        co_await std::suspend_always();
    }
}

[[gnu::noinline]] moving one_after_the_other() {
    {
        COROSCOPE("first");
        co_await std::suspend_always();
    }
    {
        COROSCOPE("second");
        co_await std::suspend_always();
    }
    COROSCOPE("third");
}

[[gnu::noinline]] void meet_the_runtime() { COROSCOPE("this thread"); }

// How many scopes begin behind the first one's thread, for the thread that runs them.
int seen_elsewhere(moving coroutine) {
    meet_the_runtime();
    coroutine.frame.resume();
    int seen = 0;
    std::thread([&] {
        const auto observing = coroscope::add_thread_local_observer(
            coroscope::observer([&seen](const coroscope::scope_info&) { ++seen; }));
        while (!coroutine.frame.done()) coroutine.frame.resume();
        coroscope::remove_observer(observing);
    }).join();
    coroutine.frame.destroy();
    return seen;
}

}  // namespace

int main() {
    std::printf("loop %d\n", seen_elsewhere(in_a_loop()));
    std::printf("sequence %d\n", seen_elsewhere(one_after_the_other()));
}
