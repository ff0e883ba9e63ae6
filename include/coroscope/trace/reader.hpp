// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a trace without trusting it. A reader examines every chunk once before it returns any. It
// returns whole records of known kinds, from sealed chunks with a correct checksum and from open
// chunks up to their first zero tag. Its warnings name the parts that it leaves out.
//
// A packed trace (trace/pack.hpp) is unpacked into memory first. The comments here refer to the
// unpacked trace.
//
// A file that a process is still recording into can be read: its open chunks end at the writers'
// positions. A reader is immutable after open(), so threads may share it. A move must not run
// concurrently with other uses.

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

/// Returns whether `first`, the first bytes of a file or buffer, begin a trace, packed or not.
[[nodiscard]] COROSCOPE_API bool is_trace(std::string_view first) noexcept;

/// Returns whether a session records into the file `path`. The function tries the lock that a
/// session holds on its file. Returns false if the session was stopped, if its process ended, or if
/// the file cannot be opened. For native traces only. Thread-safe.
[[nodiscard]] COROSCOPE_API bool is_being_recorded(const std::string& path) noexcept;

/// One record in place. Words count from 0; word 1 is the tag.
struct record_view {
    const unsigned char* data = nullptr;
    std::size_t bytes = 0;
    std::uint64_t tag = 0;

    /// The record must have that word.
    [[nodiscard]] std::uint64_t word(std::size_t position) const noexcept {
        std::uint64_t value;
        std::memcpy(&value, data + position * sizeof(value), sizeof(value));
        return value;
    }
    [[nodiscard]] record_kind kind() const noexcept { return trace::tag_kind(tag); }
    [[nodiscard]] std::uint32_t id() const noexcept { return trace::tag_id(tag); }
    [[nodiscard]] std::uint32_t value() const noexcept { return trace::tag_value(tag); }

    /// The bytes after the first unit.
    [[nodiscard]] const unsigned char* payload() const noexcept { return data + record_unit_bytes; }
    [[nodiscard]] std::size_t payload_bytes() const noexcept { return bytes - record_unit_bytes; }
};

/// Returns the record at `data`, of which `available` bytes may be read. `bytes` is 0 if there is
/// no record: at a zero tag, at an unknown kind, or if the record does not fit.
[[nodiscard]] inline record_view record_at(const unsigned char* data,
                                           std::size_t available) noexcept {
    record_view record{data, 0, 0};
    if (available < record_unit_bytes) return record;
    record.tag = record.word(1);
    const std::size_t bytes = trace::record_bytes(record.tag);
    if (bytes <= available) record.bytes = bytes;
    return record;
}

/// The starts, in ticks, of the scopes in a chunk that has records of kind scope and no others. Of
/// any other chunk `last` is less than `first`.
struct scope_starts {
    std::uint64_t first = 1;
    std::uint64_t last = 0;

    [[nodiscard]] bool known() const noexcept { return first <= last; }
};

/// A chunk: its header, and the trustworthy part of its records. A chunk that several threads wrote
/// appears once for each of them. Then the header has the data of that thread's next_thread record,
/// and all have the chunk's number and offset.
struct chunk_view {
    chunk_header header{};
    const unsigned char* records = nullptr;
    std::size_t bytes = 0;     ///< of whole records (kind tasks or open: of whole slots or places)
    std::uint64_t offset = 0;  ///< offset of the chunk's header in the trace
    scope_starts starts{};
};

/// Calls `visitor(const record_view&)` for each record of a chunk of kind records or metadata.
template <class Visitor>
void for_each_record(const chunk_view& chunk, Visitor&& visitor) {
    for (std::size_t at = 0;;) {
        const record_view record = trace::record_at(chunk.records + at, chunk.bytes - at);
        if (record.bytes == 0) return;
        visitor(record);
        at += record.bytes;
    }
}

/// The checked contents of a trace; see above.
class reader {
public:
    /// Reads the file `path`. Fails if it cannot be read, is not a trace, or has a newer version.
    static COROSCOPE_API result<reader> open(const std::string& path);

    /// Reads `bytes`, which must outlive the reader.
    static COROSCOPE_API result<reader> open(const buffer& bytes);

    /// As above, on up to `jobs` threads; 0: usable_processors(). The result does not depend on
    /// `jobs`.
    static COROSCOPE_API result<reader> open(const std::string& path, unsigned jobs);
    static COROSCOPE_API result<reader> open(const buffer& bytes, unsigned jobs);

    [[nodiscard]] const file_header& header() const noexcept { return header_; }

    /// All chunks that have content, by (thread, number, position in the chunk).
    [[nodiscard]] const std::vector<chunk_view>& chunks() const noexcept { return chunks_; }

    /// The parts that were left out, with the reason, one line each.
    [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

    /// The number of chunks that are missing, duplicated, or left out (in part or in whole) because
    /// of wrong bytes.
    [[nodiscard]] std::uint64_t damaged_chunks() const noexcept { return damaged_chunks_; }

    /// Size of the trace in bytes; for a packed trace, of the unpacked one.
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

    /// Size of a packed trace in bytes; 0 if the trace is not packed.
    [[nodiscard]] std::uint64_t packed_size() const noexcept { return packed_size_; }

private:
    friend class reader_builder;
    reader() = default;

    // The content of the file, or the unpacked trace; empty over a native buffer.
    std::shared_ptr<const unsigned char> file_;
    std::uint64_t size_ = 0;
    std::uint64_t packed_size_ = 0;
    file_header header_{};
    std::vector<chunk_view> chunks_;
    std::vector<std::string> warnings_;
    std::uint64_t damaged_chunks_ = 0;
};

}  // namespace coroscope::trace
