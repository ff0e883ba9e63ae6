// SPDX-License-Identifier: Apache-2.0

// Modes of hostile_program: the address of a coroutine's frame, a stack without a limit, and stacks
// that the program switches without reporting it.

#include <coroutine>
#include <cstdint>
#include <exception>
#include <thread>

#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include <coroscope/executor_adaptor.hpp>
#include <coroscope/instrumented.hpp>

#include "../support/taken_memory.hpp"
#include "hostile_modes.hpp"

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

// Memory that is unmapped as soon as it is freed.
void* map_memory(std::size_t bytes) {
    void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? nullptr : at;
}

struct mapped {
    struct promise {
        static void* operator new(std::size_t bytes) { return map_memory(bytes); }
        static void operator delete(void* at, std::size_t bytes) { ::munmap(at, bytes); }
        mapped get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
    using promise_type = instrumented<promise>;
};

// A stack that the program makes, enters and leaves itself.
class own_stack {
public:
    explicit own_stack(void (*work)()) : memory_(map_memory(bytes)) {
        ::getcontext(&inside);
        inside.uc_stack.ss_sp = memory_;
        inside.uc_stack.ss_size = bytes;
        inside.uc_link = &outside;
        ::makecontext(&inside, work, 0);
    }
    own_stack(const own_stack&) = delete;
    own_stack& operator=(const own_stack&) = delete;
    ~own_stack() { ::munmap(memory_, bytes); }

    static void enter() { ::swapcontext(&outside, &inside); }
    static void leave() { ::swapcontext(&inside, &outside); }

private:
    static constexpr std::size_t bytes = std::size_t{256} << 10;
    static inline ucontext_t inside;
    static inline ucontext_t outside;
    void* memory_;
};

struct calls_at_once {
    template <class Work>
    void execute(Work&& work) const {
        work();
    }
};

void leaving_job() {
    executor_adaptor at_once(calls_at_once{});
    at_once.execute([] {
        COROSCOPE("moved");
        own_stack::leave();
    });
}

mapped leaving_coroutine() {
    COROSCOPE("moved");
    own_stack::leave();
    co_return;
}

// `work` leaves its stack. Another thread enters the stack and runs `work` to its end. Then the
// stack is unmapped.
int switch_in(void (*work)(), const char* file) {
    const profile session{{.output = file, .all_threads = true}};
    {
        const own_stack stack(work);
        own_stack::enter();
        std::thread(own_stack::enter).join();
    }
    std::coroutine_handle<> waiter;
    suspends_in_scope(waiter);
    waiter.resume();
    return 0;
}

}  // namespace

// switch in job FILE, switch in coroutine FILE: the job or the coroutine runs on an unreported
// stack, and ends on another thread.
int switch_in_job(arguments given) { return switch_in(leaving_job, given[0]); }
int switch_in_coroutine(arguments given) {
    return switch_in([] { leaving_coroutine(); }, given[0]);
}

// suspend in new heap FILE: a scope in a coroutine whose frame is on a part of the heap that did
// not exist at the thread's first scope. Exit code 77: the allocator has no such heap.
int suspend_in_new_heap(arguments given) {
    const auto before = reinterpret_cast<std::uintptr_t>(::sbrk(0));
    const profile session{{.output = given[0], .all_threads = true}};
    for (int i = 0; i < 10; ++i) take_memory(64 << 10);
    std::coroutine_handle<> waiter;
    for (int i = 0; i < 10'000; ++i) {  // malloc uses up the rest of the old heap first
        suspends_in_scope(waiter);
        if (reinterpret_cast<std::uintptr_t>(waiter.address()) < before) continue;
        waiter.resume();
        return reinterpret_cast<std::uintptr_t>(::sbrk(0)) > before ? 0 : 77;
    }
    return 77;
}

// unlimited stack FILE: the same with a stack without a limit. Exit code 77: the limit cannot be
// removed.
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
