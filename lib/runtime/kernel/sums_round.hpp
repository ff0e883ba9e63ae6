// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rounds over the threads of a table that write the sums of those that have changed, some threads a
// turn. Threads that have ended leave the table.
//
// Threads: one.

#include <cstdint>

#include "kernel_log.hpp"
#include "sums_files.hpp"
#include "thread_table.hpp"

namespace coroscope::runtime::inline kernel {

/// Writes the sums that were read at `seen_ns`.
void write_sums(kernel_log& log, watched_thread& thread) noexcept;

class sums_round {
public:
    sums_round(kernel_log& log, thread_table& threads, sums_files& files) noexcept
        : log_(log), threads_(threads), files_(files) {}
    sums_round(const sums_round&) = delete;
    sums_round& operator=(const sums_round&) = delete;

    void begin() noexcept { next_ = 0; }
    bool is_over() const noexcept { return next_ >= threads_.size(); }

    /// Goes on with the round, with at most so many threads.
    void turn(std::uint32_t most) noexcept;

    /// Reads and writes the sums of one thread. If it has ended, it leaves the table.
    void read(watched_thread& thread, bool is_read_often) noexcept;

private:
    kernel_log& log_;
    thread_table& threads_;
    sums_files& files_;
    std::uint32_t next_ = 0;
};

}  // namespace coroscope::runtime::inline kernel
