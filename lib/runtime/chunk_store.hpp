// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a session's chunks live: one mapping of a trace file, or of anonymous memory in the same
// layout (trace/format.hpp). A helper thread grows it ahead of need, zeroes, checksums and dates;
// recording threads only take a chunk and hand it over.
//
// Threads: acquire() and hand_over() are lock-free, allocate nothing, make no system call (policy
// wait may block in acquire()) and may be called by any thread while the store is open. The
// append_*() and slot functions are thread-safe; append_*() take a lock. open() and close() belong
// to one thread.

#include <cstddef>
#include <cstdint>

#include <coroscope/trace/buffer.hpp>
#include <coroscope/trace/format.hpp>

#include "own_memory.hpp"

namespace coroscope::runtime {

class chunk_store : public own_memory {
public:
    struct settings {
        const char* path = nullptr;     ///< trace file; null keeps the trace in memory
        std::uint64_t limit_bytes = 0;  ///< bound of the whole trace, header and metadata included
        std::uint32_t chunk_bytes = 0;  ///< a multiple of 4096
        trace::overflow_policy policy = trace::overflow_policy::drop_newest;
        bool task_table = false;    ///< make the live-task table (overwrite_oldest)
        std::uint32_t threads = 0;  ///< that may want a chunk at once when recording starts
        /// Called once, on the helper thread, when the file was cut: takes their chunks away from all threads, so that each
        /// record comes by here again. May be null.
        void (*when_cut)() noexcept = nullptr;
    };

    chunk_store() noexcept = default;
    chunk_store(const chunk_store&) = delete;
    chunk_store& operator=(const chunk_store&) = delete;

    /// Creates the trace, its first free chunks and the helper thread. Returns 0 or an errno; a
    /// trace file that cannot be created is an error, one that cannot grow later is not (the store
    /// goes on with the chunks that it has and says so in header().write_error).
    int open(const settings& wanted) noexcept;

    /// The file header in the mapping. Valid while open.
    trace::file_header& header() noexcept;

    /// As in its settings. Unlike what stands in the header, these outlive the mapping.
    std::uint32_t chunk_bytes() const noexcept;
    trace::overflow_policy policy() const noexcept;

    /// The errno that keeps the trace from being whole, 0 if none: ESTALE where its file was cut by somebody
    /// else and nothing more is recorded, EBADF where the program closed its descriptor and the trace has what room it had,
    /// ENOENT where it was removed, else what kept it from growing.
    int write_error() const noexcept;

    /// Was the file cut by somebody else? Then what is written is lost, and chunks that are held are to be left.
    bool was_cut() const noexcept;

    /// Is there no chunk to be had: none free or to be overwritten and none can be made, or the file was cut? That stays so
    /// at least until the helper's next turn, under policy wait, too. Costs no more than looking: each record that is lost
    /// asks.
    bool is_full() const noexcept;

    /// False where append_thread() found no room, and will find none: for each record of a thread that the trace cannot
    /// name.
    bool takes_threads() const noexcept;

    /// Bytes of address space over the trace's file, from header() on; 0 for a trace in memory.
    std::uint64_t file_bytes() const noexcept;

    /// An empty chunk for `thread`, its header filled in and its state open, or null when none is
    /// free: under drop_newest at once; under overwrite_oldest only while every chunk is held by a
    /// thread (the oldest handed-over chunk is emptied otherwise, and its records are counted in
    /// its thread's `overwritten`); under wait only when the store closes or the helper cannot make a
    /// chunk: at the limit, or on a full disk.
    trace::chunk_header* acquire(std::uint32_t thread, trace::thread_body* body,
                                 std::uint64_t current_task, std::uint64_t ticks) noexcept;

    /// Gives a filled (or abandoned) chunk back. The caller must not write to it afterwards, but for places within the
    /// first `taken` bytes of its records: a signal handler may hand over the chunk of the code that it interrupts. It is sealed
    /// when they are written.
    void hand_over(trace::chunk_header* chunk, std::uint32_t taken = 0) noexcept;

    /// Appends a metadata record: `first` is its first word; the payload is padded with zeros.
    /// False when there is no room left. Under overwrite_oldest metadata is never overwritten.
    bool append_metadata(std::uint64_t first, std::uint64_t tag, const void* payload,
                         std::size_t bytes) noexcept;

    /// Appends a thread record and returns its body, whose counters its thread updates in place;
    /// null when there is no room left.
    trace::thread_body* append_thread(std::uint64_t ticks, std::uint32_t thread,
                                      const trace::thread_body& body) noexcept;

    /// Puts a live task into the task table. False when there is no table, or no free slot near: the
    /// latter is counted in header().tasks_without_slot.
    bool put_task(const trace::task_slot& slot) noexcept;

    /// Takes a finished task out of the task table; an empty slot if it was not there.
    trace::task_slot take_task(std::uint64_t task) noexcept;

    /// Recording starts now: takes the trace's first point and, some microseconds later, a second one,
    /// without which a process that dies young would leave times of unknown unit. More follow, often
    /// at first. Returns the start in ticks.
    std::uint64_t start_clock() noexcept;

    /// Records lost to overwrite_oldest so far, of all threads.
    std::uint64_t overwritten_records() const noexcept;

    /// Ends recording: acquire() gives nothing from now on, waiters return, the helper ends. Open
    /// chunks are sealed as far as they are written. Replaces the mapping by anonymous memory, so
    /// that a thread that still writes harms nobody; the address space is kept until
    /// release_mapping(). A file is cut to the chunks in use and closed; a trace in memory is
    /// copied into the result (empty for a file, or when memory is short).
    trace::buffer close() noexcept;

    /// Unmaps. Precondition: closed, and no thread holds a chunk of this store any more.
    void release_mapping() noexcept;

    /// In a forked child: leaves the parent's trace alone. The mapping becomes private anonymous
    /// memory, the file is closed, nothing of the parent's threads is waited for.
    void abandon_after_fork() noexcept;

private:
    struct state;
    state* state_ = nullptr;
};

}  // namespace coroscope::runtime
