// SPDX-License-Identifier: Apache-2.0
#pragma once

// The frame of a packed trace, version 2: what stands around its columns. The prose is docs/format.md.
//
// A packed trace is a pack_header, the trace's own header compressed, and blocks of compressed chunks.

#include <cstddef>
#include <cstdint>

namespace coroscope::trace {

inline constexpr std::uint64_t pack_magic = 0x00'01'4b'43'41'50'53'43;  // "CSPACK\x01\0" in memory
inline constexpr std::uint32_t pack_version = 2;
inline constexpr std::uint32_t pack_block_magic = 0x4b'4c'42'50;  // "PBLK" in memory

/// Bytes of chunks that a block holds at most, unless one chunk is larger.
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
    std::uint32_t chunks;        ///< how many it holds; the last of a trace may be cut
    std::uint32_t packed_bytes;  ///< of the columns, which follow
    std::uint32_t reserved;
    std::uint64_t checksum;         ///< XXH3-64 of the columns
    std::uint64_t header_checksum;  ///< XXH3-64 of the fields before this one
};
static_assert(sizeof(pack_block_header) == 32);

}  // namespace coroscope::trace
