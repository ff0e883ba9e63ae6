// SPDX-License-Identifier: Apache-2.0

// A program that runs out of memory while it records: exhausted_program FILE
//
// A recorded thread has 1000 steps before that and 1000 after it. Another thread uses the runtime
// for the first time afterwards: it has seven steps, a range (two records), an allocator's report,
// and the end of a scope that began on the first thread. Prints the number of lost records from the
// session's status, before and after the stop.

#include <array>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <coroscope/memory.hpp>
#include <coroscope/profile.hpp>
#include <coroscope/record_function.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include "../support/session_steps.hpp"
#include "../support/taken_memory.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

void exhaust_memory() {
    const rlimit none{address_space(), RLIM_INFINITY};
    if (::setrlimit(RLIMIT_AS, &none) != 0) std::_Exit(9);
    for (std::size_t bytes = 1U << 20; bytes >= 16; bytes /= 2)
        while (take_memory(bytes)) {
        }
}

struct detached {
    struct promise_type {
        detached get_return_object() noexcept {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
    std::coroutine_handle<promise_type> suspended;
};

detached end_scope_elsewhere() {
    COROSCOPE("ends elsewhere");
    co_await std::suspend_always();
}

}  // namespace

int main(int, char** words) {
    profile session{
        {.output = words[1], .all_threads = true, .limit_bytes = 8U << 20, .profile_memory = true}};
    const auto begun = end_scope_elsewhere().suspended;
    std::atomic<bool> exhausted{false};
    std::thread late([&] {
        while (!exhausted) std::this_thread::sleep_for(100us);
        steps(7);
        const char label[] = "range";
        {
            const record_function range(label);
        }
        report_allocation(nullptr, 8);
        begun.resume();
    });
    steps(1000);
    exhaust_memory();
    exhausted = true;
    late.join();
    steps(1000);
    const std::uint64_t lost = session.status().lost_records;
    session.stop();
    std::array<char, 64> line{};
    const int size = std::snprintf(line.data(), line.size(), "%llu %llu\n",
                                   static_cast<unsigned long long>(lost),
                                   static_cast<unsigned long long>(session.status().lost_records));
    return ::write(STDOUT_FILENO, line.data(), static_cast<std::size_t>(size)) == size ? 0 : 1;
}
