// SPDX-License-Identifier: Apache-2.0
#pragma once

// A block: chunks as columns. Columns stand in this order: the words of the chunks' headers, records and other bytes
// of each chunk, the kinds of all records, the clock's step, then kind by kind ids, values, times and words, and last
// texts, words of device records and other bytes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <coroscope/trace/pack_format.hpp>

#include "pack_columns.hpp"
#include "pack_records.hpp"

namespace coroscope::trace {

inline constexpr std::size_t header_words = chunk_header_bytes / sizeof(std::uint64_t);
inline constexpr std::size_t checksum_word =
    offsetof(chunk_header, checksum) / sizeof(std::uint64_t);
inline constexpr std::size_t device_words = sizeof(device_body) / sizeof(std::uint64_t);

/// Records of one kind.
struct kind_columns {
    column ids;
    column values;
    std::array<column, most_words - 1> words;  ///< the times, and what follows the tag
};

/// As numbers, before or after compression. Numbers are differences to what was to be expected.
struct block_columns {
    std::array<column, header_words> headers;
    column records;     ///< of each chunk: how many
    column rest_bytes;  ///< of each chunk: behind its records, up to the last that is not zero
    std::vector<unsigned char> kinds;
    std::array<kind_columns, record_kinds> of_kind;
    std::vector<unsigned char> texts;
    column devices;
    std::vector<unsigned char> rest;
};

/// The order in which times and words of a kind are compressed: records of one id behind each other, since they
/// resemble each other.
[[nodiscard]] std::vector<std::uint32_t> by_id(const column& ids);

/// The checksum that a chunk should have: that of its records where it is sealed and whole, else 0.
[[nodiscard]] std::uint64_t due_checksum(std::span<const unsigned char> chunk);

[[nodiscard]] chunk_header header_of(std::span<const unsigned char> chunk);

/// Bytes of a record's payload: texts whole, of device records what is no text.
[[nodiscard]] constexpr std::size_t payload_of(std::uint64_t tag) noexcept {
    return record_bytes(tag) - record_unit_bytes -
           word_columns(tag_kind(tag)) * sizeof(std::uint64_t);
}

class block_packer {
public:
    /// `chunk` may be cut short by the end of the trace.
    void add(std::span<const unsigned char> chunk);

    /// Appends the columns of what was added, and begins a new block.
    void finish(column_writer& to);

private:
    std::size_t add_records(std::span<const unsigned char> chunk);
    void add_record(const unsigned char* data);
    static void write_kind(column_writer& to, record_kind kind, const kind_columns& columns,
                           std::uint64_t step);

    block_columns columns_;
    prediction expected_{pack_version};
    std::array<std::uint64_t, header_words> last_header_{};
    std::array<std::uint64_t, device_words> last_device_{};
};

/// Restores the chunks of one block, packed in that version, that is not trusted. `chunks` are zeroed bytes of the trace, of which the last
/// chunk may be cut. False where the block holds something else; the chunks are then zero or in part restored.
[[nodiscard]] bool unpack_block(column_reader& from, std::span<unsigned char> chunks,
                                std::size_t chunk_bytes, std::uint32_t version);

}  // namespace coroscope::trace
