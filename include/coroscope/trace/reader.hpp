// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a trace without trusting it. A reader has looked at every chunk once before it hands it out:
// what it gives are whole records of known kinds, from sealed chunks whose checksum is right and
// from open ones up to their first zero tag. What it leaves out it names in its warnings.
//
// A packed trace (trace/pack.hpp) is unpacked into memory first; what is said of it here is said of the trace that
// was packed.
//
// A file that a process is still recording into can be read: its open chunks end where their writer
// stood. Not thread-safe while it is moved; otherwise immutable after open().

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/detail/export.hpp>
#include <coroscope/trace/buffer.hpp>
#include <coroscope/trace/format.hpp>
#include <coroscope/trace/result.hpp>

namespace coroscope::trace {

/// Whether bytes that begin so are a trace, packed or not.
[[nodiscard]] COROSCOPE_API bool is_trace(std::string_view first) noexcept;

/// One record in place. Its words count from 0: word 1 is the tag.
struct record_view {
    const unsigned char* data = nullptr;
    std::size_t bytes = 0;
    std::uint64_t tag = 0;

    /// Precondition: the record has that word.
    [[nodiscard]] std::uint64_t word(std::size_t position) const noexcept {
        std::uint64_t value;
        std::memcpy(&value, data + position * sizeof(value), sizeof(value));
        return value;
    }
    [[nodiscard]] record_kind kind() const noexcept { return tag_kind(tag); }
    [[nodiscard]] std::uint32_t id() const noexcept { return tag_id(tag); }
    [[nodiscard]] std::uint32_t value() const noexcept { return tag_value(tag); }

    /// What follows the first unit.
    [[nodiscard]] const unsigned char* payload() const noexcept { return data + record_unit_bytes; }
    [[nodiscard]] std::size_t payload_bytes() const noexcept { return bytes - record_unit_bytes; }
};

/// The record at `data`, of which `available` bytes may be read. `bytes` is 0 where there is none:
/// at a zero tag, an unknown kind, or a record that does not fit.
[[nodiscard]] inline record_view record_at(const unsigned char* data,
                                           std::size_t available) noexcept {
    record_view record{data, 0, 0};
    if (available < record_unit_bytes) return record;
    record.tag = record.word(1);
    const std::size_t bytes = record_bytes(record.tag);
    if (bytes <= available) record.bytes = bytes;
    return record;
}

/// A chunk as its header says, and the part of it that can be trusted.
struct chunk_view {
    chunk_header header{};
    const unsigned char* records = nullptr;
    std::size_t bytes = 0;     ///< of whole records (kind tasks: of whole slots)
    std::uint64_t offset = 0;  ///< where the chunk's header stands in the trace
};

/// Calls `visitor(const record_view&)` for each record of a chunk of kind records or metadata.
template <class Visitor>
void for_each_record(const chunk_view& chunk, Visitor&& visitor) {
    for (std::size_t at = 0;;) {
        const record_view record = record_at(chunk.records + at, chunk.bytes - at);
        if (record.bytes == 0) return;
        visitor(record);
        at += record.bytes;
    }
}

class reader {
public:
    /// Reads the file `path`. Fails where it cannot be read, is no trace, or is of a newer version.
    static COROSCOPE_API result<reader> open(const std::string& path);

    /// Reads `bytes`, which must outlive the reader.
    static COROSCOPE_API result<reader> open(const buffer& bytes);

    [[nodiscard]] const file_header& header() const noexcept { return header_; }

    /// Every chunk with something in it, by (thread, number).
    [[nodiscard]] const std::vector<chunk_view>& chunks() const noexcept { return chunks_; }

    /// What was left out and why, one line each.
    [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

    /// Chunks of which something was left out because it is wrong.
    [[nodiscard]] std::uint64_t damaged_chunks() const noexcept { return damaged_chunks_; }

    /// Size of the trace in bytes; of a packed one, before it was packed.
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

    /// Size of a packed trace in bytes; 0 where it is not packed.
    [[nodiscard]] std::uint64_t packed_size() const noexcept { return packed_size_; }

private:
    friend class reader_builder;
    reader() = default;

    std::shared_ptr<const unsigned char>
        file_;  // what open(path) read; or unpacked; empty over a buffer
    std::uint64_t size_ = 0;
    std::uint64_t packed_size_ = 0;
    file_header header_{};
    std::vector<chunk_view> chunks_;
    std::vector<std::string> warnings_;
    std::uint64_t damaged_chunks_ = 0;
};

}  // namespace coroscope::trace
