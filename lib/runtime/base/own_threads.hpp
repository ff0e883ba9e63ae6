// SPDX-License-Identifier: Apache-2.0
#pragma once

// Threads of ours must not keep a process alive whose own threads have all ended. The main thread
// may end by pthread_exit(); the C library then ends the process when its last thread ends, and our
// threads would prevent that. Our threads also must not run before the program's own threads, so
// they leave a real-time class.

#include <atomic>
#include <cstdint>

#include <sys/stat.h>

#include "report_guard.hpp"

namespace coroscope::runtime::inline base {

/// Returns the number of threads of the process, with its main thread; 0 if unknown.
inline std::uint32_t threads_of_process() noexcept {
    // The kernel's folder of threads has one link for each thread, and two more.
    struct stat folder{};
    if (::stat("/proc/self/task", &folder) != 0 || folder.st_nlink <= 2) return 0;
    return static_cast<std::uint32_t>(folder.st_nlink - 2);
}

/// Returns whether the calling thread is in a real-time scheduling class.
bool is_real_time() noexcept;

/// Moves the calling thread out of a real-time class, which it has inherited from its creator.
void leave_real_time() noexcept;

/// An object on the stack of a thread of ours. It counts the thread while it lives.
class own_thread {
public:
    own_thread() noexcept {
        count.fetch_add(1, std::memory_order_relaxed);
        for (std::atomic<std::uint32_t>& each : ids) {
            std::uint32_t none = 0;
            if (!each.compare_exchange_strong(none, id_of_this(), std::memory_order_relaxed))
                continue;
            entry_ = &each;
            break;
        }
        leave_real_time();
    }
    own_thread(const own_thread&) = delete;
    own_thread& operator=(const own_thread&) = delete;
    ~own_thread() {
        if (entry_ != nullptr) entry_->store(0, std::memory_order_relaxed);
        count.fetch_sub(1, std::memory_order_relaxed);
    }

    static void forget_all() noexcept {
        count.store(0, std::memory_order_relaxed);
        for (std::atomic<std::uint32_t>& each : ids) each.store(0, std::memory_order_relaxed);
    }

    /// Returns whether the kernel's id is that of a living thread of ours. If there are more than
    /// 32, some are not known.
    static bool has_id(std::uint32_t id) noexcept {
        for (const std::atomic<std::uint32_t>& each : ids)
            if (each.load(std::memory_order_relaxed) == id) return true;
        return false;
    }

private:
    friend bool is_left_alone() noexcept;
    static std::uint32_t id_of_this() noexcept;

    report_guard unreported_;                      // its calls and locks are not the program's
    std::atomic<std::uint32_t>* entry_ = nullptr;  // in `ids`
    static inline constinit std::atomic<std::uint32_t> ids[32]{};
    static inline constinit std::atomic<std::uint32_t> count{0};
};

/// Returns whether all threads of the program, the main thread included, have ended. Makes some
/// system calls.
bool is_left_alone() noexcept;

/// Ends such a process as the C library would: by exit(0). The call is made on a new thread,
/// because functions that run at the exit still need this thread.
void end_process_left_alone() noexcept;

}  // namespace coroscope::runtime::inline base
