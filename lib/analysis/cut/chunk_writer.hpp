// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes records into sealed chunks of a trace.

#include <cstddef>
#include <cstdint>
#include <string>

#include <coroscope/trace/format.hpp>
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::inline cutting {

class chunk_writer {
public:
    explicit chunk_writer(std::size_t chunk_bytes) : chunk_bytes_(chunk_bytes) {}

    /// Ends the open chunk. The next one has the thread, the task and the time of this header.
    void begin(const coroscope::trace::chunk_header& first);
    /// Must be called after each record that may have changed the thread's task.
    void set_task(std::uint64_t task) noexcept { next_.current_task = task; }

    void add(const coroscope::trace::record_view& record);
    /// Adds a record of two units.
    void add(std::uint64_t ticks, std::uint64_t tag, std::uint64_t third, std::uint64_t fourth);

    /// Copies a chunk whose records are no records of threads.
    void copy(const coroscope::trace::chunk_view& chunk);

    /// Ends the open chunk, and returns all.
    [[nodiscard]] std::string take();

    [[nodiscard]] std::uint64_t chunks() const noexcept { return chunks_; }
    [[nodiscard]] std::uint64_t records() const noexcept { return records_; }

private:
    void add_bytes(const void* bytes, std::size_t count, std::uint64_t ticks);
    void seal();

    std::size_t chunk_bytes_;
    std::string out_;
    std::string open_;  // the records of the open chunk
    std::uint32_t open_records_ = 0;
    coroscope::trace::chunk_header header_{};  // of the open chunk
    coroscope::trace::chunk_header next_{};    // of the one after it
    std::uint64_t chunks_ = 0;
    std::uint64_t records_ = 0;
};

}  // namespace coroscope::analysis::inline cutting
