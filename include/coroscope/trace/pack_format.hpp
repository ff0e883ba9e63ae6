// SPDX-License-Identifier: Apache-2.0
#pragma once

// The frame of a packed trace, version 2: the headers around its columns. See also
// docs/reference/format.md.
//
// A packed trace is a pack_header, the trace's own header in compressed form, and blocks of
// compressed chunks.

#include <cstddef>
#include <cstdint>

namespace coroscope::trace {

inline constexpr std::uint64_t pack_magic = 0x00'01'4b'43'41'50'53'43;  // "CSPACK\x01\0" in memory
inline constexpr std::uint32_t pack_version = 2;
inline constexpr std::uint32_t pack_block_magic = 0x4b'4c'42'50;  // "PBLK" in memory

/// Upper limit of a block's chunks in bytes, unless one chunk is larger.
inline constexpr std::uint64_t pack_block_limit = std::uint64_t{4} << 20;

/// The first bytes of a packed trace.
struct pack_header {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t header_bytes;  ///< of the trace's compressed header, which follows
    std::uint64_t trace_bytes;   ///< of the trace before it was packed
    std::uint64_t checksum;      ///< XXH3-64 of the compressed header, seeded with trace_bytes
};
static_assert(sizeof(pack_header) == 32);

/// The first bytes of a block.
struct pack_block_header {
    std::uint32_t magic;
    std::uint32_t chunks;        ///< their number; the last one of a trace may be cut
    std::uint32_t packed_bytes;  ///< of the columns, which follow
    std::uint32_t reserved;
    std::uint64_t checksum;         ///< XXH3-64 of the columns
    std::uint64_t header_checksum;  ///< XXH3-64 of the fields before this one
};
static_assert(sizeof(pack_block_header) == 32);

/// Returns whether a reader may unpack `packed` bytes (of a packed trace or of a gzip file) to
/// `bytes`: at most 64 times as many, but always up to 64 MiB. Recordings are far below that limit.
/// A file above it was made to exhaust a reader's memory.
constexpr bool may_unpack(std::uint64_t packed, std::uint64_t bytes) noexcept {
    constexpr std::uint64_t ratio = 64;
    constexpr std::uint64_t always = std::uint64_t{64} << 20;
    return bytes <= always || bytes / ratio <= packed;
}

}  // namespace coroscope::trace
