// SPDX-License-Identifier: Apache-2.0
#include "futex_calls.hpp"

#include <cstdarg>

#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>

namespace coroscope::test {

constinit std::atomic<std::uint64_t> futex_sleeps{0};
constinit std::atomic<std::uint64_t> futex_returns{0};
constinit std::atomic<std::uint64_t> futex_wakes{0};

}  // namespace coroscope::test

// In the place of the C library's, which it calls.
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
    coroscope::test::futex_sleeps.fetch_add(1, std::memory_order_relaxed);
    const long result = call();
    coroscope::test::futex_returns.fetch_add(1, std::memory_order_relaxed);
    return result;
}
