// SPDX-License-Identifier: Apache-2.0

// Modes of hostile_program: where a coroutine's frame lies, and how far a stack may grow.

#include <coroutine>
#include <cstdint>
#include <exception>

#include <sys/resource.h>
#include <unistd.h>

#include "hostile_modes.hpp"
#include "taken_memory.hpp"

namespace coroscope::test {

namespace {

struct detached {
    struct promise_type {
        detached get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};
struct suspend_into {
    std::coroutine_handle<>& waiter;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> suspended) const noexcept { waiter = suspended; }
    void await_resume() const noexcept {}
};
detached suspends_in_scope(std::coroutine_handle<>& waiter) {
    COROSCOPE("suspended");
    co_await suspend_into{waiter};
}

}  // namespace

// suspend in new heap FILE: a scope in a coroutine, whose frame lies where there was no heap yet when the thread had its
// first scope. 77: the allocator has no such heap.
int suspend_in_new_heap(arguments given) {
    const auto before = reinterpret_cast<std::uintptr_t>(::sbrk(0));
    const profile session{{.output = given[0], .all_threads = true}};
    for (int i = 0; i < 10; ++i) take_memory(64 << 10);
    std::coroutine_handle<> waiter;
    for (int i = 0; i < 10'000; ++i) {  // what malloc has left of the old heap is used up first
        suspends_in_scope(waiter);
        if (reinterpret_cast<std::uintptr_t>(waiter.address()) < before) continue;
        waiter.resume();
        return reinterpret_cast<std::uintptr_t>(::sbrk(0)) > before ? 0 : 77;
    }
    return 77;
}

// unlimited stack FILE: the same, where the stack may grow for ever. 77: it may not.
int unlimit_stack(arguments given) {
    const rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
    if (::setrlimit(RLIMIT_STACK, &limit) != 0) return 77;
    char program[] = "/proc/self/exe";
    char mode[] = "suspend in new heap";
    char* words[] = {program, mode, given[0], nullptr};
    ::execv(program, words);
    return 1;
}

}  // namespace coroscope::test
