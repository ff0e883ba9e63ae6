// SPDX-License-Identifier: Apache-2.0

// malloc_program FILE: its own malloc() and free() have scopes, which an observer sees. Starts and ends threads and
// sessions, which allocate and free memory. Prints the number of records that the session of FILE lost, and
// how often the threads of that session called malloc() and free().

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <thread>

#include <coroscope/macro.hpp>
#include <coroscope/observer.hpp>
#include <coroscope/profile.hpp>

namespace {

thread_local constinit bool counts = false;
constinit std::atomic<int> calls{0};

void count_call() noexcept {
    if (counts) calls.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): the names of the C library
void* __libc_malloc(std::size_t bytes);
void __libc_free(void* block);
// NOLINTEND(readability-identifier-naming)

void* malloc(std::size_t bytes) {
    COROSCOPE("malloc");
    count_call();
    return __libc_malloc(bytes);
}
void free(void* block) {
    COROSCOPE("free");
    count_call();
    __libc_free(block);
}
}

namespace {

constinit std::atomic<int> observed{0};
void* volatile block = nullptr;  // keeps the compiler from removing the calls

void work() {
    for (int i = 0; i < 1000; ++i) {
        COROSCOPE("step");
        block = malloc(8);
        free(block);
    }
}

void counted_work() {
    counts = true;
    work();
}

}  // namespace

int main(int, char** arguments) {
    coroscope::observer counting(
        [](const coroscope::scope_info&) {
            observed.fetch_add(1, std::memory_order_relaxed);
            return std::make_unique<coroscope::observer_context>();
        },
        [](const coroscope::scope_info&, coroscope::observer_context*) {});
    const auto handle = coroscope::add_global_observer(counting);
    std::thread(work).join();  // without a session
    for (int i = 0; i < 4; ++i) {
        coroscope::profile session;
        std::thread(work).join();
    }
    coroscope::profile session({.output = arguments[1], .all_threads = true, .chunk_bytes = 4096});
    for (int i = 0; i < 4; ++i) std::thread(counted_work).join();
    session.stop();
    coroscope::remove_observer(handle);
    std::printf("%llu %d\n", static_cast<unsigned long long>(session.status().lost_records),
                calls.load());
    return observed.load() > 0 ? 0 : 1;
}
