// SPDX-License-Identifier: Apache-2.0
#pragma once

// Source A of the facts about threads: each context switch.
//
// Threads: one, which has private descriptors.

#include <cstdint>

#include "kernel_log.hpp"
#include "sums_files.hpp"
#include "sums_round.hpp"
#include "switch_rings.hpp"
#include "thread_table.hpp"
#include "wait_looks.hpp"

namespace coroscope::runtime::inline kernel {

class switch_watch {
public:
    switch_watch(kernel_log& log, thread_table& threads, wait_looks& looks) noexcept
        : log_(log),
          threads_(threads),
          looks_(looks),
          files_(threads),
          sums_(log, threads, files_) {}
    switch_watch(const switch_watch&) = delete;
    switch_watch& operator=(const switch_watch&) = delete;

    /// Follows the thread `first` and all others, as far as descriptors allow. Returns null, or the
    /// reason why there are no switches: a literal. If `may_ask` is false, perf_event_open() is
    /// not called.
    const char* begin(std::uint32_t first, bool may_ask) noexcept;

    /// The number of threads whose switches do not arrive.
    std::uint32_t unfollowed() const noexcept { return unfollowed_; }

    /// Writes the facts that have come. Returns whether there were any.
    bool turn(std::int64_t now_ns) noexcept;

    /// Writes the last ones.
    void end() noexcept;

private:
    static constexpr std::uint32_t most_due = 256;

    bool drain(bool is_last = false) noexcept;
    void take(const context_switch& now) noexcept;
    void read_later(watched_thread& thread) noexcept;
    void read_due(std::uint32_t most) noexcept;
    bool look_at_waits(std::int64_t now_ns) noexcept;
    void follow(std::uint32_t thread) noexcept;
    void look_later(watched_thread& thread) noexcept;
    void follow_all() noexcept;

    kernel_log& log_;
    thread_table& threads_;
    wait_looks& looks_;
    sums_files files_;
    sums_round sums_;
    switch_rings rings_;
    std::uint32_t due_[most_due];  // the kernel's ids of threads whose sums are to be read
    std::uint32_t first_due_ = 0;  // the list is circular
    std::uint32_t due_count_ = 0;
    std::uint32_t followed_ = 0;
    std::uint32_t unfollowed_ = 0;
    int follow_error_ = 0;
    std::int64_t next_round_ns_ = 0;
};

}  // namespace coroscope::runtime::inline kernel
