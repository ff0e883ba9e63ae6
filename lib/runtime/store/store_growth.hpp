// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a store's chunks. The helper does it ahead of need; a recording thread that finds no free
// chunk below the limit does it itself, because the helper may not get a processor in time.
//
// Threads: take() may be called by any thread, in a signal handler too; it makes system calls only
// if no chunk is free. The functions that need the lock say so.

#include <atomic>
#include <cstdint>

#include <signal.h>

#include "../base/own_mutex.hpp"

namespace coroscope::runtime::inline store {

struct store_base;
class chunk_sealer;

class store_growth {
public:
    store_growth(store_base& parts, chunk_sealer& sealer) noexcept
        : parts_(parts), sealer_(sealer) {}
    store_growth(const store_growth&) = delete;
    store_growth& operator=(const store_growth&) = delete;

    /// Returns a free chunk. If there is none, makes one. If none can be made, returns the result
    /// of chunk_pool::take(): with overwriting the oldest chunk that is not in use, else
    /// `chunk_pool::none`. A chunk cannot be made at the limit, after a failed attempt (until the
    /// helper has made one), if another thread has been growing the trace for a second, and on a
    /// real-time thread, which must not wait for a file system.
    std::uint32_t take() noexcept;

    /// Returns whether the trace is below its limit and an attempt to grow it is due. The next
    /// attempt is due a second after a failed attempt of the helper, and at once after one of a
    /// recording thread.
    bool may_grow() const noexcept;

    /// Returns whether the last attempt to grow failed.
    bool has_failed() const noexcept { return retry_ns_.load(std::memory_order_relaxed) != 0; }

    /// Must be called by the helper only. If fewer than `free_chunks` are free, makes the missing
    /// ones, at most one step. Tries to make at least a megabyte, because small pieces of a file
    /// cost more per page; makes less if the disk does not allow it. Returns 0, or an errno if it
    /// made no chunk.
    int grow_ahead(std::uint32_t free_chunks) noexcept;

    /// Guards the store's mapping and the producer's side of its free chunks. The thread that holds
    /// the lock receives no signals, and is not cancelled.
    void lock() noexcept;
    void unlock() noexcept;

private:
    bool make_room() noexcept;
    int grow(std::uint32_t chunks, bool may_allocate) noexcept;
    std::uint32_t least_growth() const noexcept;
    void await_recycled() noexcept;
    bool lock_soon() noexcept;
    bool is_over() const noexcept;

    store_base& parts_;
    chunk_sealer& sealer_;
    own_mutex mutex_;
    sigset_t signals_before_{};              // the holder's
    int cancellation_before_ = 0;            // the holder's
    std::atomic<bool> is_stuck_{false};      // a thread gave up waiting for the holder
    std::atomic<std::int64_t> retry_ns_{0};  // earliest next attempt; 0: the last one worked
    static constexpr std::int64_t retry_at_next_turn = 1;
};

}  // namespace coroscope::runtime::inline store
