// SPDX-License-Identifier: Apache-2.0
#pragma once

// The chunks of a store by index: the free ones and those that were handed over.
//
// A thread that ends may leave most of its chunk unused. Its *rest* is set aside for the next
// thread that needs its first chunk; its records there are a *section* of its own, behind a record
// that names it.
//
// Threads: publish() and recycle() belong to the thread that holds the lock of store_growth. The
// others are lock-free and allocate nothing; any thread.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <coroscope/trace/format.hpp>

#include "../base/free_queue.hpp"
#include "../base/ordered_queue.hpp"
#include "chunk.hpp"

namespace coroscope::runtime::inline store {

class chunk_pool {
public:
    static constexpr std::uint32_t none = ordered_queue::none;

    /// The part of a chunk's header that describes its writer.
    struct opening {
        trace::chunk_kind kind = trace::chunk_kind::records;
        std::uint32_t thread = 0;
        const trace::thread_body* body = nullptr;
        std::uint64_t current_task = 0;
        std::uint64_t ticks = 0;
    };

    chunk_pool(std::byte* base, std::uint32_t chunk_bytes, std::uint32_t capacity,
               bool overwrite) noexcept;
    chunk_pool(const chunk_pool&) = delete;
    chunk_pool& operator=(const chunk_pool&) = delete;
    ~chunk_pool() {
        handed_over_.destroy();
        rests_.destroy();
    }

    /// Returns false if there was no memory for the queues.
    bool usable() const noexcept { return usable_; }

    std::uint32_t capacity() const noexcept { return capacity_; }
    std::uint32_t chunk_bytes() const noexcept { return chunk_bytes_; }
    trace::chunk_header* chunk(std::uint32_t index) const noexcept;

    trace::file_header& header() const noexcept {
        return *reinterpret_cast<trace::file_header*>(base_);
    }

    /// The number of chunks that exist so far. All chunks with a smaller index were published.
    std::uint32_t published() const noexcept { return published_.load(std::memory_order_relaxed); }

    /// Adds the next `count` chunks of the mapping, which must be zeroed and present, to the free
    /// ones. Returns the number of added chunks. It is smaller than `count` if the queue of free
    /// chunks is full and cannot grow: there is no memory, or `may_allocate` is false.
    std::uint32_t publish(std::uint32_t count, bool may_allocate) noexcept;

    /// Returns a free chunk, or none.
    std::uint32_t take_free() noexcept;

    /// Returns a free chunk. If there is none and the policy overwrites, empties and returns the
    /// oldest handed-over chunk, else one with a rest. Else returns none.
    std::uint32_t take() noexcept;

    /// Fills in the header of a chunk from take() and makes it open.
    trace::chunk_header* open(std::uint32_t index, const opening& what) noexcept;

    /// `taken`: see chunk_store::hand_over().
    void hand_over(trace::chunk_header* chunk, std::uint32_t taken) noexcept;

    /// The smallest rest of a chunk that is worth setting aside. The next thread gets this room,
    /// less a record of kind next_thread.
    static constexpr std::uint32_t least_rest_bytes = 1024;

    /// May be called instead of hand_over() by a thread that will not write into the chunk any
    /// more. Sets the chunk's rest aside: the bytes from `cursor` on. Returns false and changes
    /// nothing if the rest is small, if a place of the thread's section (at `section`) is taken and
    /// not written, or if many rests are set aside already.
    bool set_aside(trace::chunk_header* chunk, const char* section, const char* cursor) noexcept;

    /// Returns an open chunk whose rest was set aside, or none.
    std::uint32_t take_rest() noexcept;

    /// Begins a section in a chunk from take_rest(), and returns its first place.
    char* begin_section(std::uint32_t index, const opening& what) noexcept;

    /// Begins another section of the same thread in a chunk that it writes to, and returns the
    /// section's first place. Returns null and changes nothing under the first two conditions of
    /// set_aside().
    char* begin_anew(trace::chunk_header* chunk, const char* section, char* cursor,
                     const opening& what) noexcept;

    /// Returns whether there seems to be a rest. Another thread may take it at any moment.
    bool has_rests() const noexcept { return !rests_.is_empty(); }

    /// Removes and returns the oldest handed-over chunk, or none.
    std::uint32_t pop_handed_over() noexcept { return handed_over_.pop(); }

    /// Puts a handed-over chunk back, as the newest.
    void put_back(std::uint32_t index) noexcept { handed_over_.push(index); }

    /// Empties the oldest handed-over chunk ahead of need. Returns false if there is none. During
    /// the call take() may find no chunk although there is one.
    bool recycle() noexcept;
    bool is_recycling() const noexcept { return recycling_.load(std::memory_order_acquire); }

    /// Returns whether take() would find no chunk now. Another thread may change that at any
    /// moment. The queues are read in the order in which recycle() moves a chunk.
    bool is_empty() const noexcept {
        if (overwrite_ && (!handed_over_.is_empty() || has_rests() || is_recycling())) return false;
        return free_.size() == 0;
    }

    std::size_t free_chunks() const noexcept { return free_.size(); }
    std::uint64_t opened() const noexcept { return opened_.load(std::memory_order_relaxed); }
    std::uint64_t overwritten() const noexcept {
        return overwritten_.load(std::memory_order_relaxed);
    }

private:
    std::uint32_t index_of(const trace::chunk_header* chunk) const noexcept;
    std::uint64_t offset_of(const trace::thread_body* body) const noexcept;
    std::uint32_t empty_oldest(std::uint32_t index) noexcept;
    void count_overwritten(const trace::chunk_header& chunk) noexcept;
    void count_overwritten(std::uint64_t body_offset, std::uint64_t records) noexcept;
    bool has_rest(const trace::chunk_header* chunk, const char* section,
                  const char* cursor) const noexcept;
    char* write_opening(char* at, const opening& what) const noexcept;

    std::byte* base_;
    std::uint32_t chunk_bytes_;
    std::uint32_t capacity_;
    std::atomic<std::uint32_t> published_{0};
    std::atomic<bool> recycling_{false};
    bool overwrite_;
    bool usable_ = false;
    free_queue free_;
    ordered_queue handed_over_;
    ordered_queue rests_;
    alignas(64) std::atomic<std::uint32_t> rest_count_{0};
    alignas(64) std::atomic<std::uint64_t> opened_{0};
    std::atomic<std::uint64_t> overwritten_{0};
};

}  // namespace coroscope::runtime::inline store
