// SPDX-License-Identifier: Apache-2.0
#pragma once

// A block: chunks as columns. The order of the columns is: the words of the chunks' headers; the
// number of records and of other bytes of each chunk; the kinds of all records; the clock's step;
// then, kind by kind, ids, values, times and words; last texts, words of device records and other
// bytes.

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
    std::array<column, most_words - 1> words;  ///< the times, and the words after the tag
};

/// The columns as numbers, before or after compression. A number is the difference to the predicted
/// number.
struct block_columns {
    std::array<column, header_words> headers;
    column records;     ///< number of records of each chunk
    column rest_bytes;  ///< bytes of each chunk after its records, up to the last nonzero byte
    std::vector<unsigned char> kinds;
    std::array<kind_columns, record_kinds> of_kind;
    std::vector<unsigned char> texts;
    column devices;
    std::vector<unsigned char> rest;
};

/// Returns the order in which times and words of a kind are compressed: records with the same id
/// are neighbours, because they are similar.
[[nodiscard]] std::vector<std::uint32_t> by_id(const column& ids);

/// Returns the correct checksum of a chunk: that of its records if it is sealed and whole, else 0.
[[nodiscard]] std::uint64_t due_checksum(std::span<const unsigned char> chunk);

[[nodiscard]] chunk_header header_of(std::span<const unsigned char> chunk);

/// Returns the bytes of a record's payload: the text or, for a device record, its words.
[[nodiscard]] constexpr std::size_t payload_of(std::uint64_t tag) noexcept {
    return record_bytes(tag) - record_unit_bytes -
           word_columns(tag_kind(tag)) * sizeof(std::uint64_t);
}

class block_packer {
public:
    /// `chunk` may be cut short by the end of the trace.
    void add(std::span<const unsigned char> chunk);

    /// Appends the columns of the added chunks, and begins a new block.
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

}  // namespace coroscope::trace
