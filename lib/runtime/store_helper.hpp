// SPDX-License-Identifier: Apache-2.0
#pragma once

// The store's thread. It keeps a reserve of free chunks ahead of the recording threads, seals what
// they hand over and dates the trace; so they never allocate, fault or checksum.
// It sleeps as long as the file may be left unwatched. Whoever takes a chunk and finds a quarter of the reserve gone
// wakes it, once in a sleep: a system call after some megabytes of records that came faster than its turns.
//
// start() and stop() belong to the thread that opens and closes the store.

#include <atomic>
#include <cstdint>

#include <pthread.h>

#include <coroscope/trace/format.hpp>

namespace coroscope::runtime {

struct store_parts;

/// Writes the trace's newest clock point, so that a kill in between leaves none or all of it.
void store_last_point(trace::file_header& header, const trace::clock_point& now) noexcept;

class store_helper {
public:
    explicit store_helper(store_parts& parts) noexcept : parts_(parts) {}
    store_helper(const store_helper&) = delete;
    store_helper& operator=(const store_helper&) = delete;

    /// Starts the thread and returns when it has written the file header and made the first chunks
    /// (fewer or none on a full disk). Returns 0 or an errno: no thread, no room for the header.
    int start() noexcept;

    /// Ends the thread.
    void stop() noexcept;

    /// Wakes the thread. Makes a system call.
    void hurry() noexcept;

    /// To be called by who has taken a chunk: wakes the thread where the reserve runs low and it can do something about
    /// that. Any thread.
    void mind_reserve() noexcept;

private:
    enum class phase : std::uint32_t { starting, running, failed };

    static void* run(void* self) noexcept;
    void prepare() noexcept;
    void serve() noexcept;
    void fill_header() noexcept;
    void watch_process() noexcept;
    bool watch_file() noexcept;
    void seal_handed_over() noexcept;
    void keep_reserve() noexcept;
    bool grow(std::uint32_t chunks) noexcept;
    bool may_grow() const noexcept;
    std::uint32_t wanted_free() const noexcept;
    std::uint32_t attainable_free() const noexcept;
    void release_waiters() noexcept;
    void date() noexcept;
    void adapt_period() noexcept;
    void sleep(std::uint32_t bell) noexcept;

    store_parts& parts_;
    pthread_t thread_{};
    std::atomic<std::uint32_t> bell_{0};  // futex the thread sleeps on
    // Below so many free chunks who takes one rings the bell; 0: nobody does.
    std::atomic<std::uint32_t> low_free_{0};
    std::atomic<std::uint32_t> phase_{static_cast<std::uint32_t>(phase::starting)};
    std::atomic<bool> stopping_{false};
    int start_error_ = 0;

    // The thread's own.
    std::uint32_t base_reserve_ = 0;   // free chunks to have when nothing is going on
    std::uint64_t opened_before_ = 0;  // chunks opened up to the last turn
    std::uint64_t consumed_ = 0;       // chunks opened during the last period
    long period_ns_ = 0;
    std::int64_t retry_growth_ns_ = 0;  // not before; 0: growth has not failed
    std::int64_t next_watch_ns_ = 0;    // of the process
    std::int64_t next_point_ns_ = 0;
    std::int64_t point_period_ns_ = 0;
    std::int64_t next_record_ns_ = 0;
    std::int64_t record_period_ns_ = 0;
    std::uint32_t records_at_period_ = 0;
};

}  // namespace coroscope::runtime
