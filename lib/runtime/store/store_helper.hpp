// SPDX-License-Identifier: Apache-2.0
#pragma once

// The store's thread. It keeps a reserve of free chunks for the recording threads, seals the chunks
// that they hand over, and takes clock points. So recording threads do not allocate, fault or
// compute checksums. Its longest sleep is bounded by the time for which the file may go unwatched.
// A thread that takes a chunk and finds a quarter of the reserve used wakes it, once in a sleep.
// That costs one system call after some megabytes of records that came faster than the helper's
// turns.
//
// start() and stop() belong to the thread that opens and closes the store.

#include <atomic>
#include <cstdint>

#include <pthread.h>

#include <coroscope/trace/format.hpp>

#include "chunk_demand.hpp"
#include "cost_budget.hpp"

namespace coroscope::runtime::inline store {

struct store_parts;

/// Writes the trace's newest clock point. If the process is killed in between, the trace has either
/// the whole point or none.
void store_last_point(trace::file_header& header, const trace::clock_point& now) noexcept;

class store_helper {
public:
    explicit store_helper(store_parts& parts) noexcept : parts_(parts) {}
    store_helper(const store_helper&) = delete;
    store_helper& operator=(const store_helper&) = delete;

    /// Starts the thread. Returns when the thread has written the file header and made the first
    /// chunks (fewer or none on a full disk). Returns 0, or an errno if the thread cannot be
    /// created or there is no room for the header.
    int start() noexcept;

    /// Ends the thread.
    void stop() noexcept;

    /// Wakes the thread. Makes a system call.
    void hurry() noexcept;

    /// Wakes the helper if the reserve runs low and it can make chunks. Must be called after a
    /// chunk was taken. Any thread.
    void mind_reserve() noexcept;

private:
    enum class phase : std::uint32_t { starting, running, failed };

    static void* run(void* self) noexcept;
    void prepare() noexcept;
    void serve() noexcept;
    void fill_header() noexcept;
    void watch_process() noexcept;
    bool watch_file() noexcept;
    int look_at_file() noexcept;
    void seal_handed_over() noexcept;
    void keep_reserve() noexcept;
    bool grow(std::uint32_t free_chunks) noexcept;
    bool recycle() noexcept;
    void look_at_demand() noexcept;
    std::uint32_t wanted_free() const noexcept;
    std::uint32_t attainable_free() const noexcept;
    std::uint32_t bell_level() const noexcept;
    void release_waiters() noexcept;
    void tell_large() noexcept;
    void date() noexcept;
    void adapt_period() noexcept;
    void sleep(std::uint32_t bell) noexcept;

    store_parts& parts_;
    pthread_t thread_{};
    std::atomic<std::uint32_t> bell_{0};  // futex the thread sleeps on
    // A thread that takes a chunk and leaves fewer free chunks than this rings the bell. 0: no
    // thread rings it.
    std::atomic<std::uint32_t> low_free_{0};
    std::atomic<std::uint32_t> phase_{static_cast<std::uint32_t>(phase::starting)};
    std::atomic<bool> stopping_{false};
    int start_error_ = 0;

    // Only the helper thread uses the following members.
    static constexpr long longest_period_ns = 16'000'000;
    std::uint32_t processors_ = 1;     // processors for which the reserve is sized
    std::uint32_t base_reserve_ = 0;   // upper bound of the reserve, in chunks
    std::uint64_t opened_before_ = 0;  // chunks opened up to the last turn
    bool is_idle_ = false;             // no chunk was opened since
    bool told_large_ = false;
    chunk_demand demand_{longest_period_ns};
    long period_ns_ = 0;
    std::int64_t next_watch_ns_ = 0;  // next check of the process
    std::int64_t next_point_ns_ = 0;
    std::int64_t point_period_ns_ = 0;
    std::int64_t next_record_ns_ = 0;
    std::int64_t record_period_ns_ = 0;
    std::uint32_t records_at_period_ = 0;
    cost_budget budget_;
};

}  // namespace coroscope::runtime::inline store
