// SPDX-License-Identifier: Apache-2.0
#pragma once

// One chunk in the mapping: its first word, its extent and its seal.
//
// A chunk changes hands through its first eight bytes (magic, kind, state), always written as one
// word: whoever gives the chunk on stores it with release, whoever takes it loads it with acquire.
// The chunk's content is ordered by that pair alone, whatever queue carried its index.

#include <cstddef>
#include <cstdint>

#include <coroscope/trace/format.hpp>

namespace coroscope::runtime {

/// A word of the mapping, whatever type stands there.
using mapped_word [[gnu::may_alias]] = std::uint64_t;

/// Pairs with publish_word() and with the hot path's store of a record's tag.
inline std::uint64_t load_word(const void* at) noexcept {
    return __atomic_load_n(static_cast<const mapped_word*>(at), __ATOMIC_ACQUIRE);
}

/// Makes everything written before it visible to who sees `value` by load_word().
inline void publish_word(void* at, std::uint64_t value) noexcept {
    __atomic_store_n(static_cast<mapped_word*>(at), value, __ATOMIC_RELEASE);
}

/// A counter in the mapping that others update: no ordering.
inline std::uint64_t load_counter(const void* at) noexcept {
    return __atomic_load_n(static_cast<const mapped_word*>(at), __ATOMIC_RELAXED);
}
inline void add_to_counter(void* at, std::uint64_t value) noexcept {
    __atomic_fetch_add(static_cast<mapped_word*>(at), value, __ATOMIC_RELAXED);
}

/// The first word of a chunk that was never opened, or is being emptied.
inline constexpr std::uint64_t free_chunk_word = 0;

constexpr std::uint64_t chunk_word(trace::chunk_kind kind, trace::chunk_state state) noexcept {
    return trace::chunk_magic | std::uint64_t{static_cast<std::uint16_t>(kind)} << 32 |
           std::uint64_t{static_cast<std::uint16_t>(state)} << 48;
}
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the trace format is little-endian");
static_assert(offsetof(trace::chunk_header, kind) == 4 &&
              offsetof(trace::chunk_header, state) == 6 &&
              offsetof(trace::chunk_header, number) == 8);

constexpr trace::chunk_kind kind_of(std::uint64_t word) noexcept {
    return static_cast<trace::chunk_kind>(static_cast<std::uint16_t>(word >> 32));
}
constexpr trace::chunk_state state_of(std::uint64_t word) noexcept {
    return static_cast<trace::chunk_state>(static_cast<std::uint16_t>(word >> 48));
}

/// How much of a chunk is written.
struct chunk_extent {
    std::uint32_t bytes;    ///< after the header
    std::uint32_t records;  ///< of a task table: live tasks
};

/// Walks the tags of a chunk of `chunk_bytes`; its thread may be writing to it.
chunk_extent measure(const trace::chunk_header& chunk, std::uint32_t chunk_bytes) noexcept;

/// Fills in extent and checksum and makes the chunk sealed. Nobody else may write to the chunk. False, and nothing is
/// changed, while a place below its used_bytes, as hand_over() left them, is not written.
bool seal(trace::chunk_header& chunk, std::uint32_t chunk_bytes) noexcept;

/// Makes a chunk that its caller owns free: all zeros.
void empty(trace::chunk_header& chunk, std::uint32_t chunk_bytes) noexcept;

}  // namespace coroscope::runtime
