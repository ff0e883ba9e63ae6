// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waits until another thread of the process waits: the kernel tells in which system call a thread
// is.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>

#include <sys/syscall.h>
#include <unistd.h>

namespace coroscope::test {

/// A system call in which a thread waits, and the call's first argument.
struct waiting_call {
    long number = 0;
    std::uint64_t first = 0;
};

/// None if the thread runs, or if the kernel does not tell.
inline std::optional<waiting_call> call_of(long thread) {
    const std::string path = "/proc/self/task/" + std::to_string(thread) + "/syscall";
    std::FILE* const file = std::fopen(path.c_str(), "r");
    if (file == nullptr) return std::nullopt;
    long number = 0;
    unsigned long first = 0;
    const bool told = std::fscanf(file, "%ld 0x%lx", &number, &first) == 2;
    std::fclose(file);
    if (!told) return std::nullopt;
    return waiting_call{number, first};
}

/// The number of threads of this process for which `fits(thread, call)`.
template <class Fits>
std::size_t threads_in(Fits fits) {
    std::size_t found = 0;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
        const long thread = std::atol(each.path().filename().c_str());
        const std::optional<waiting_call> call = call_of(thread);
        if (call && fits(thread, *call)) ++found;
    }
    return found;
}

/// Waits until so many threads have waited for some milliseconds in calls that fit; half a minute
/// at most. If the kernel does not tell, waits for 30 ms.
template <class Fits>
void await_call(Fits fits, std::size_t threads = 1) {
    constexpr timespec pause{0, 5'000'000};
    const int most_looks = call_of(::syscall(SYS_gettid)) ? 6000 : 6;
    int in_a_row = 0;
    for (int look = 0; look < most_looks && in_a_row < 2; ++look) {
        ::nanosleep(&pause, nullptr);
        in_a_row = threads_in(fits) >= threads ? in_a_row + 1 : 0;
    }
}

/// The same for a wait for a mutex, a reader-writer lock or a condition variable.
template <class Lock>
void await_waiter(const Lock* lock) {
    const auto begin = reinterpret_cast<std::uintptr_t>(lock);
    await_call([begin](long, const waiting_call& call) {
        return call.number == SYS_futex && call.first >= begin && call.first < begin + sizeof(Lock);
    });
}

/// The same for a read from a descriptor.
inline void await_reader(int descriptor) {
    await_call([descriptor](long, const waiting_call& call) {
        return call.number == SYS_read && static_cast<int>(call.first) == descriptor;
    });
}

}  // namespace coroscope::test
