// SPDX-License-Identifier: Apache-2.0
#pragma once

// Threads of ours must not keep a process that has no other any more: its main thread may end by pthread_exit(), and
// the C library ends a process as its last thread ends. Nor do they go before the program's own.

#include <atomic>
#include <cstdint>

#include <sys/stat.h>

namespace coroscope::runtime {

/// How many threads the process has, its main one included; 0 where that cannot be found out.
inline std::uint32_t threads_of_process() noexcept {
    // The kernel's folder of them has a link for each, and two more.
    struct stat folder{};
    if (::stat("/proc/self/task", &folder) != 0 || folder.st_nlink <= 2) return 0;
    return static_cast<std::uint32_t>(folder.st_nlink - 2);
}

/// A thread that began in the real-time class, as its creator is in it, leaves it.
void leave_real_time() noexcept;

/// Stands in a thread of ours, which it counts while it lives.
class own_thread {
public:
    own_thread() noexcept {
        count.fetch_add(1, std::memory_order_relaxed);
        leave_real_time();
    }
    own_thread(const own_thread&) = delete;
    own_thread& operator=(const own_thread&) = delete;
    ~own_thread() { count.fetch_sub(1, std::memory_order_relaxed); }

    /// In a forked child, which has none of them.
    static void forget_all() noexcept { count.store(0, std::memory_order_relaxed); }

private:
    friend bool is_left_alone() noexcept;
    static inline constinit std::atomic<std::uint32_t> count{0};
};

/// Whether the process has threads of ours only: the main thread has ended, and all others. Some system calls.
bool is_left_alone() noexcept;

/// Ends such a process as the C library would have: by exit(0), on a thread of its own, so that this one still serves
/// what runs then.
void end_process_left_alone() noexcept;

}  // namespace coroscope::runtime
