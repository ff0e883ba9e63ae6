// SPDX-License-Identifier: Apache-2.0
#pragma once

// The chunks of a store by index: which are free, which are handed over, who gets the next one.
//
// Threads: take(), open() and hand_over() are lock-free and allocate nothing; any thread. publish()
// and recycle() belong to the helper thread, or to open() before there is one.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <coroscope/trace/format.hpp>

#include "chunk.hpp"
#include "free_queue.hpp"
#include "ordered_queue.hpp"

namespace coroscope::runtime {

class chunk_pool {
public:
    static constexpr std::uint32_t none = ordered_queue::none;

    /// What a chunk's header says of its writer.
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
    ~chunk_pool() { handed_over_.destroy(); }

    /// False when there was no memory for the queues.
    bool usable() const noexcept { return usable_; }

    std::uint32_t capacity() const noexcept { return capacity_; }
    std::uint32_t chunk_bytes() const noexcept { return chunk_bytes_; }
    trace::chunk_header* chunk(std::uint32_t index) const noexcept;

    trace::file_header& header() const noexcept {
        return *reinterpret_cast<trace::file_header*>(base_);
    }

    /// Chunks that exist so far; all below it were published.
    std::uint32_t published() const noexcept { return published_; }

    /// Makes the next `count` chunks of the mapping, zeroed and present, free.
    void publish(std::uint32_t count) noexcept;

    /// A free chunk; with overwriting, else the oldest handed-over one, emptied. None otherwise.
    std::uint32_t take() noexcept;

    /// Fills in the header of a chunk from take() and makes it open.
    trace::chunk_header* open(std::uint32_t index, const opening& what) noexcept;

    /// `taken`: bytes of its records, see chunk_store.
    void hand_over(trace::chunk_header* chunk, std::uint32_t taken) noexcept;

    /// The oldest handed-over chunk, or none.
    std::uint32_t pop_handed_over() noexcept { return handed_over_.pop(); }

    /// That one again, as the newest.
    void put_back(std::uint32_t index) noexcept { handed_over_.push(index); }

    /// Empties the oldest handed-over chunk ahead of need. False when there is none.
    bool recycle() noexcept;

    /// Whether take() finds none, as far as can be told by looking.
    bool is_empty() const noexcept {
        return free_.size() == 0 && (!overwrite_ || handed_over_.is_empty());
    }

    std::size_t free_chunks() const noexcept { return free_.size(); }
    std::uint64_t opened() const noexcept { return opened_.load(std::memory_order_relaxed); }
    std::uint64_t overwritten() const noexcept {
        return overwritten_.load(std::memory_order_relaxed);
    }

private:
    std::uint32_t take_oldest() noexcept;
    void count_overwritten(const trace::chunk_header& chunk) noexcept;

    std::byte* base_;
    std::uint32_t chunk_bytes_;
    std::uint32_t capacity_;
    std::uint32_t published_ = 0;
    bool overwrite_;
    bool usable_ = false;
    free_queue free_;
    ordered_queue handed_over_;
    alignas(64) std::atomic<std::uint64_t> opened_{0};
    std::atomic<std::uint64_t> overwritten_{0};
};

}  // namespace coroscope::runtime
