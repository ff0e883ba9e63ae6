// SPDX-License-Identifier: Apache-2.0
#pragma once

// Source B of the facts about threads, for a kernel that gives no switches: looks at the sums of
// each thread. Sums are written when they have changed, and for the last time before they change
// again: in between the thread was on no processor.
//
// Threads: one, which has private descriptors.

#include <cstdint>

#include "kernel_log.hpp"
#include "sums_files.hpp"
#include "thread_table.hpp"
#include "wait_looks.hpp"

namespace coroscope::runtime::inline kernel {

class sample_watch {
public:
    sample_watch(kernel_log& log, thread_table& threads, wait_looks& looks) noexcept
        : log_(log), threads_(threads), looks_(looks), files_(threads) {}
    sample_watch(const sample_watch&) = delete;
    sample_watch& operator=(const sample_watch&) = delete;

    /// Looks at all threads. Returns whether sums can be read.
    bool begin(std::uint32_t first) noexcept;

    /// Looks at the threads that are due, as far as there is time. Returns whether one has changed.
    bool turn(std::int64_t now_ns) noexcept;

    /// Writes the last sums.
    void end() noexcept;

private:
    void list_threads() noexcept;
    bool look(watched_thread& thread, std::int64_t now_ns) noexcept;
    bool read(watched_thread& thread, thread_sums& sums) noexcept;
    void look_at_wait(watched_thread& thread) noexcept;
    void leave(watched_thread& thread) noexcept;

    kernel_log& log_;
    thread_table& threads_;
    wait_looks& looks_;
    sums_files files_;
    std::uint32_t next_ = 0;           // of the table, to be looked at
    std::uint32_t known_threads_ = 0;  // of the process, when they were listed
    std::int64_t next_listing_ns_ = 0;
};

}  // namespace coroscope::runtime::inline kernel
