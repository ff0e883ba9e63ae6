// SPDX-License-Identifier: Apache-2.0

// A coroutine continues on another thread between its scopes, in a loop and one after the other.
// Each scope must begin for the thread that runs the coroutine at that time: only the other thread
// has an observer, which misses scopes that begin for the first thread. A task that moves in the
// same way must be resumed for the thread that runs it: only that thread observes transitions.

#include <coroutine>
#include <cstdio>
#include <exception>
#include <thread>

#include <coroscope/coroscope.hpp>
#include <coroscope/observer.hpp>

namespace {

constexpr int turns = 10;

template <bool Task>
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
using moving_coroutine = moving<false>;
using moving_task = moving<true>;

}  // namespace

COROSCOPE_INSTRUMENT_COROUTINE(moving_task);

namespace {

[[gnu::noinline]] moving_coroutine in_a_loop() {
    for (int turn = 0; turn < turns; ++turn) {
        COROSCOPE("turn");
        co_await std::suspend_always();
    }
}

[[gnu::noinline]] moving_coroutine one_after_the_other() {
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

[[gnu::noinline]] moving_task as_a_task(int& resumed) {
    for (int turn = 0; turn < turns; ++turn) {
        co_await std::suspend_always();
        if (coroscope::current_context().task != 0) ++resumed;
    }
}

[[gnu::noinline]] void meet_the_runtime() { COROSCOPE("this thread"); }

// Returns the number of scopes that begin after the coroutine left its first thread, as seen by the
// observer of the other thread.
template <bool Task>
int seen_elsewhere(moving<Task> coroutine) {
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
    int resumed = 0;
    seen_elsewhere(as_a_task(resumed));
    std::printf("task %d\n", resumed);
}
