// SPDX-License-Identifier: Apache-2.0

// Replaces the C library's clock_gettime(), by LD_PRELOAD. STEPPING_CLOCK names the clock that is
// set back and forth by an hour: "realtime" or "monotonic". With "counting" the monotonic clock
// advances by a microsecond at each reading, and at no other time.

#include <cstdlib>
#include <cstring>
#include <ctime>

#include <sys/syscall.h>
#include <unistd.h>

extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock,
                                                                    timespec* now) noexcept {
    static int calls = 0;
    if (::syscall(SYS_clock_gettime, clock, now) != 0) return -1;
    const char* stepped = std::getenv("STEPPING_CLOCK");
    if (stepped != nullptr && std::strcmp(stepped, "counting") == 0) {
        if (clock != CLOCK_MONOTONIC) return 0;
        const long looks = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
        *now = {1'000 + looks / 1'000'000, looks % 1'000'000 * 1'000};
        return 0;
    }
    const clockid_t wanted = stepped != nullptr && std::strcmp(stepped, "realtime") == 0
                                 ? CLOCK_REALTIME
                                 : CLOCK_MONOTONIC;
    if (stepped == nullptr || clock != wanted) return 0;
    const int call = __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    if (call % 3 == 1) now->tv_sec -= now->tv_sec < 3600 ? now->tv_sec : 3600;
    if (call % 3 == 2) now->tv_sec += 3600;
    return 0;
}
