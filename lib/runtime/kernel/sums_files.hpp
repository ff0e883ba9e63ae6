// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the kernel's sums of threads. The files of threads that are read often stay open: reading
// takes 1 µs with an open file, and 4 µs without.
//
// Must be used by one thread, which has private descriptors.

#include <cstdint>

#include "thread_table.hpp"

namespace coroscope::runtime::inline kernel {

class sums_files {
public:
    explicit sums_files(thread_table& threads) noexcept : threads_(threads) {}
    sums_files(const sums_files&) = delete;
    sums_files& operator=(const sums_files&) = delete;
    /// Closes all files.
    ~sums_files();

    /// Bounds the number of open files. Initially it is 0.
    void keep_at_most(std::uint64_t files) noexcept;

    /// Reads a thread's sums, and keeps its file open if there is room and `is_read_often`. Returns
    /// false if the thread has ended.
    bool read(watched_thread& thread, thread_sums& sums, bool is_read_often) noexcept;

    void close(watched_thread& thread) noexcept;

private:
    thread_table& threads_;
    std::uint32_t open_ = 0;
    std::uint32_t most_ = 0;
};

}  // namespace coroscope::runtime::inline kernel
