// SPDX-License-Identifier: Apache-2.0

// A promise whose only operator new takes a pool allocates frames only for coroutines that have a
// pool as parameter, instrumented or not.
#include <coroutine>
#include <cstddef>

#include <coroscope/instrumented.hpp>

struct pool {
    void* take(std::size_t bytes) { return bytes <= sizeof(memory) ? memory : nullptr; }
    alignas(16) char memory[1024];
};

struct activity {
    struct promise {
        static void* operator new(std::size_t bytes, pool& from) { return from.take(bytes); }
        static void operator delete(void*) noexcept {}
        activity get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept {}
    };
    using promise_type = coroscope::instrumented<promise>;
};

#if defined(OFFENCE)
activity act() { co_return; }
#else
activity act(pool&) { co_return; }
#endif

int main() {}
