// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sealed chunks of a trace's file, whose pages leave the process.
//
// No thread touches a sealed chunk again. Its bytes belong to the file, also while they are in the
// page cache only, so the process need not map them: they survive its death either way
// (docs/decisions/0050-pages-of-a-recording.md).
//
// Threads: one at a time, unless a function says more.

#include <atomic>
#include <cstdint>

namespace coroscope::runtime::inline store {

class mapping;

class sealed_chunks {
public:
    sealed_chunks() noexcept = default;
    sealed_chunks(const sealed_chunks&) = delete;
    sealed_chunks& operator=(const sealed_chunks&) = delete;
    ~sealed_chunks();

    /// Makes room for the indices below `capacity`. Returns false if there is no memory.
    bool create(std::uint32_t capacity, std::uint32_t chunk_bytes) noexcept;

    /// Notes that the chunk is sealed. `map` must be over a file.
    void add(std::uint32_t index, const mapping& map) noexcept;

    [[nodiscard]] bool has(std::uint32_t index) const noexcept;
    /// The number of sealed chunks. Any thread.
    [[nodiscard]] std::uint64_t count() const noexcept {
        return count_.load(std::memory_order_relaxed);
    }

    /// Unmaps the pages of sealed chunks, a megabyte at a time, or less if chunks between them have
    /// been in use for long.
    void release(const mapping& map) noexcept;

private:
    void unmap(std::uint32_t from, std::uint32_t end, const mapping& map) const noexcept;

    std::uint64_t* bits_ = nullptr;  // one for each chunk
    std::atomic<std::uint64_t> count_{0};
    std::uint32_t capacity_ = 0;
    std::uint32_t chunk_bytes_ = 0;
    std::uint32_t passed_ = 0;  // sealed chunks below this index are unmapped
};

}  // namespace coroscope::runtime::inline store
