// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sleeping on a word of this process, with a bound. The standard library's wait has none.

#include <atomic>
#include <cstdint>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace coroscope::runtime::inline base {

/// Sleeps while `word` is `seen`, at most `nanoseconds` (below one second). May return early.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen,
                       long nanoseconds) noexcept {
    const timespec bound{0, nanoseconds};
    ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, &bound, nullptr, 0);
}

/// Changes the word and wakes all threads that sleep on it.
inline void futex_signal(std::atomic<std::uint32_t>& word) noexcept {
    word.fetch_add(1, std::memory_order_release);  // pairs with the waiters' acquire loads
    ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 0x7fff'ffff, nullptr, nullptr, 0);
}

}  // namespace coroscope::runtime::inline base
