// SPDX-License-Identifier: Apache-2.0
#pragma once

// The memory of a session's chunks: one mapping of a trace file, or of anonymous memory in the same
// layout (trace/format.hpp). A helper thread grows it ahead of need, zeroes, checksums and dates;
// recording threads only take a chunk and hand it over.
//
// Threads: acquire(), take_rest(), hand_over() and leave() are lock-free, allocate nothing, make no
// system call (policy wait may block in acquire()) and may be called by any thread while the store
// is open. The append_*() and slot functions are thread-safe; append_*() take a lock. open() and
// close() belong to one thread.

#include <cstddef>
#include <cstdint>

#include <coroscope/trace/buffer.hpp>
#include <coroscope/trace/open_format.hpp>

#include "../base/own_memory.hpp"
#include "store_settings.hpp"

namespace coroscope::runtime::inline store {

class chunk_store : public own_memory {
public:
    using settings = store_settings;

    chunk_store() noexcept = default;
    chunk_store(const chunk_store&) = delete;
    chunk_store& operator=(const chunk_store&) = delete;

    /// Creates the trace, its first free chunks and the helper thread. Returns 0 or an errno. A
    /// trace file that cannot be created is an error. If it cannot grow later, the store goes on
    /// with the chunks that it has, and header().write_error has the errno.
    int open(const settings& wanted) noexcept;

    /// The file header in the mapping. Valid while open.
    trace::file_header& header() noexcept;

    /// These are the values of the settings. Unlike the header's values, they outlive the mapping.
    std::uint32_t chunk_bytes() const noexcept;
    trace::overflow_policy policy() const noexcept;

    /// Returns the errno that explains why the trace is not complete; 0 if there is none. ESTALE:
    /// another process cut the file, and nothing more is recorded. EBADF: the program closed the
    /// file's descriptor, and the trace cannot grow any more. ENOENT: the file was removed. Any
    /// other: the error of growing the file.
    int write_error() const noexcept;

    /// Returns whether another process cut the file. Then records are lost, and threads must leave
    /// their chunks.
    bool was_cut() const noexcept;

    /// Returns whether no chunk can be taken: no chunk is free or may be overwritten and none can
    /// be made, or the file was cut. This stays true at least until the helper's next turn, also
    /// under policy wait. The call only reads, because it is made for each lost record.
    bool is_full() const noexcept;

    /// Returns false if append_thread() found no room, and will find none. Called for each record
    /// of a thread that the trace cannot name.
    bool takes_threads() const noexcept;

    /// Bytes of the chunks that were opened so far.
    std::uint64_t opened_bytes() const noexcept;

    /// Lets acquire() return null from now on, also to threads that wait. The store stays open, for
    /// records that are being written and for metadata.
    void give_up() noexcept;

    /// Bytes of address space over the trace's file, from header() on; 0 for a trace in memory.
    std::uint64_t file_bytes() const noexcept;

    /// Returns an empty, open chunk for `thread` with its header filled in, or null if there is
    /// none. Under drop_newest returns null at once if no chunk is free. Under overwrite_oldest
    /// empties the oldest handed-over chunk if no chunk is free, and counts its records in its
    /// thread's `overwritten`; returns null only while threads hold every chunk. Under wait returns
    /// null only if the store closes or the helper cannot make a chunk, at the limit or on a full
    /// disk.
    trace::chunk_header* acquire(std::uint32_t thread, trace::thread_body* body,
                                 std::uint64_t current_task, std::uint64_t ticks) noexcept;

    /// Returns an empty chunk for the kernel's facts. Returns null if the recording threads need
    /// the free chunks, if chunks of facts have their share of the trace, or if the store is
    /// closed. Does not make a chunk itself, but wakes the helper, which may make one. Does not use
    /// the file's descriptor. Must be called by one thread.
    trace::chunk_header* acquire_for_kernel(std::uint64_t ticks) noexcept;

    /// Returns whether acquire_for_kernel() may return a chunk after the helper's next turn if it
    /// returns none now.
    bool may_have_chunk_for_kernel() const noexcept;

    /// Gives a full (or abandoned) chunk back. Afterwards the caller must not write to it, except
    /// to places in the first `taken` bytes of its records: a signal handler may hand over the
    /// chunk of the code that it interrupts. The chunk is sealed when these places are written.
    void hand_over(trace::chunk_header* chunk, std::uint32_t taken = 0) noexcept;

    /// The beginning of a thread's records in a chunk to which other threads wrote before.
    struct section {
        trace::chunk_header* chunk = nullptr;
        char* begin = nullptr;
    };

    /// The least room of a section from take_rest(), in bytes.
    static constexpr std::uint32_t least_section_bytes = 1024 - 2 * trace::record_unit_bytes;

    /// Returns room in a chunk that leave() set aside, or no chunk if none is set aside. A thread
    /// may call it in place of acquire() only for its first chunk of this store, because a thread's
    /// chunks are read in the order of their numbers.
    section take_rest(std::uint32_t thread, trace::thread_body* body, std::uint64_t current_task,
                      std::uint64_t ticks) noexcept;

    /// Begins another section of a thread in the chunk that it holds, behind its last record at
    /// `cursor`. The section names the task that is current on the thread now. Returns its begin.
    /// Returns null if little of the chunk is unused, if a place is taken and not written, or if
    /// the store is closed: the caller must then hand the chunk over.
    char* begin_anew(const section& held, char* cursor, std::uint32_t thread,
                     trace::thread_body* body, std::uint64_t current_task,
                     std::uint64_t ticks) noexcept;

    /// Returns whether take_rest() would probably find a rest. It is called for each record of a
    /// thread without a chunk.
    bool has_rests() const noexcept;

    /// Each thread for which append_thread() made a record must call it when the thread ends.
    /// `held` is the thread's chunk, or none, with the begin of the thread's records in it;
    /// `cursor` is the end of these records. The thread must not write to the chunk afterwards. If
    /// much of the chunk is unused, another thread may write its first records there.
    void leave(const section& held, const char* cursor) noexcept;

    /// Appends a metadata record. `first` is its first word; the payload is padded with zeros.
    /// Returns false if there is no room. Metadata is never overwritten, under any policy.
    bool append_metadata(std::uint64_t first, std::uint64_t tag, const void* payload,
                         std::size_t bytes) noexcept;

    /// Appends a thread record and returns its body, in which the thread updates its counters.
    /// Returns null if there is no room.
    trace::thread_body* append_thread(std::uint64_t ticks, std::uint32_t thread,
                                      const trace::thread_body& body) noexcept;

    /// Puts a live task into the task table. Returns false if there is no table, or no free slot
    /// near the task's own. The latter is counted in header().tasks_without_slot.
    bool put_task(const trace::task_slot& slot) noexcept;

    /// Removes a finished task from the task table and returns its slot, or an empty slot if it was
    /// not there.
    trace::task_slot take_task(std::uint64_t task) noexcept;

    /// Returns the place for open scopes with that number. The place of a number does not change.
    /// If there is no room for it, returns null and counts that in header().unnamed_scopes.
    trace::open_scope* open_scope_place(std::uint32_t number) noexcept;
    /// Counts an open scope that has no number.
    void count_unnamed_scope() noexcept;

    /// Must be called when recording starts. Takes the trace's first clock point and, some
    /// microseconds later, a second one. Without the second point the unit of the times would be
    /// unknown if the process dies early. The helper takes more points, often at first. Returns the
    /// start in ticks.
    std::uint64_t start_clock() noexcept;

    /// Returns the number of records of all threads that overwrite_oldest has lost so far.
    std::uint64_t overwritten_records() const noexcept;

    /// Ends recording: acquire() returns null from now on, waiters return, and the helper ends.
    /// Open chunks are sealed up to their last written record. Replaces the mapping by anonymous
    /// memory, so that a late write does no harm. The address space is kept until
    /// release_mapping(). A file is cut to the chunks in use and closed; a trace in memory is
    /// copied into the result (empty for a file, or when memory is short).
    trace::buffer close() noexcept;

    /// Unmaps the memory. Precondition: the store is closed, and no thread holds a chunk of it.
    void release_mapping() noexcept;

    /// Must be called in a forked child, which must not touch the parent's trace. Replaces the
    /// mapping by private anonymous memory and closes the file, without waiting for the parent's
    /// threads. The store is not used or freed afterwards, because a thread of the parent may have
    /// been changing it.
    void abandon_after_fork() noexcept;

private:
    struct state;
    bool kernel_has_its_share() const noexcept;

    state* state_ = nullptr;
    std::uint64_t chunks_for_kernel_ = 0;  // opened so far
    chunk_store* abandoned_before_ = nullptr;
};

}  // namespace coroscope::runtime::inline store
