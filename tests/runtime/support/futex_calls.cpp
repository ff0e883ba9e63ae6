// SPDX-License-Identifier: Apache-2.0
#include "futex_calls.hpp"

#include <cstdarg>
#include <ctime>

#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>

namespace coroscope::test {

constinit std::atomic<std::uint64_t> futex_sleeps{0};
constinit std::atomic<std::uint64_t> futex_returns{0};
constinit std::atomic<std::uint64_t> futex_wakes{0};
constinit std::atomic<std::int64_t> shortest_sleep_ns{0};

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

void note_sleep(const timespec* bound) noexcept {
    if (bound == nullptr) return;
    const std::int64_t asked_ns = bound->tv_sec * second_ns + bound->tv_nsec;
    std::int64_t shortest_ns = shortest_sleep_ns.load(std::memory_order_relaxed);
    while (asked_ns < shortest_ns && !shortest_sleep_ns.compare_exchange_weak(
                                         shortest_ns, asked_ns, std::memory_order_relaxed)) {
    }
}

}  // namespace

}  // namespace coroscope::test

// Replaces the C library's function, and calls it.
extern "C" long syscall(long number, ...) noexcept {
    using system_call = long (*)(long, ...);
    static const auto real = reinterpret_cast<system_call>(::dlsym(RTLD_NEXT, "syscall"));
    std::va_list list;
    va_start(list, number);
    long words[6];
    for (long& word : words) word = va_arg(list, long);
    va_end(list);
    const auto call = [&] {
        return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
    };
    if (number != SYS_futex) return call();
    const long command = words[1] & FUTEX_CMD_MASK;
    if (command == FUTEX_WAKE) coroscope::test::futex_wakes.fetch_add(1, std::memory_order_relaxed);
    if (command != FUTEX_WAIT) return call();
    coroscope::test::note_sleep(reinterpret_cast<const timespec*>(words[3]));
    coroscope::test::futex_sleeps.fetch_add(1, std::memory_order_relaxed);
    const long result = call();
    coroscope::test::futex_returns.fetch_add(1, std::memory_order_relaxed);
    return result;
}
