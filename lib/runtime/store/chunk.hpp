// SPDX-License-Identifier: Apache-2.0
#pragma once

// One chunk in the mapping: its first word, its extent and its seal.
//
// A chunk changes hands through its first eight bytes (magic, kind, state), always written as one
// word: the thread that gives the chunk away stores the word with release, and the thread that
// takes the chunk loads the word with acquire. This pair alone orders the chunk's content; the
// queue that passes the chunk's index does not.

#include <cstddef>
#include <cstdint>

#include <coroscope/trace/format.hpp>

namespace coroscope::runtime::inline store {

/// A word of the mapping. It may alias an object of any type.
using mapped_word [[gnu::may_alias]] = std::uint64_t;

/// Pairs with publish_word() and with the hot path's store of a record's tag.
inline std::uint64_t load_word(const void* at) noexcept {
    return __atomic_load_n(static_cast<const mapped_word*>(at), __ATOMIC_ACQUIRE);
}

/// Stores `value` with release order: a thread that reads it by load_word() sees everything written
/// before.
inline void publish_word(void* at, std::uint64_t value) noexcept {
    __atomic_store_n(static_cast<mapped_word*>(at), value, __ATOMIC_RELEASE);
}

/// Reads a counter in the mapping that other threads update. Relaxed.
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

/// The extent of the written part of a chunk.
struct chunk_extent {
    std::uint32_t bytes;    ///< after the header
    std::uint32_t records;  ///< number of records, live tasks or open scopes
};

/// Returns the kinds whose records have `bytes` bytes whatever their tags are, one bit each.
constexpr std::uint32_t kinds_of_size(std::size_t bytes) noexcept {
    std::uint32_t kinds = 0;
    for (unsigned kind = 0; kind < 32; ++kind) {
        const auto least = trace::make_tag(static_cast<trace::record_kind>(kind), 0, 0);
        const auto most = least | ~std::uint64_t{0} << 5;
        if (trace::record_bytes(least) == bytes && trace::record_bytes(most) == bytes)
            kinds |= std::uint32_t{1} << kind;
    }
    return kinds;
}

/// Returns whether a record with this tag has one unit.
constexpr bool is_one_unit(std::uint64_t tag) noexcept {
    constexpr std::uint32_t one_unit = kinds_of_size(trace::record_unit_bytes);
    return (one_unit >> (tag & 31) & 1) != 0;
}

/// trace::record_bytes(), faster for the usual kinds: the branches are predicted, so a loop over
/// records need not wait for the size of one before it looks at the next.
inline std::size_t bytes_of_record(std::uint64_t tag) noexcept {
    constexpr std::uint32_t two_units = kinds_of_size(2 * trace::record_unit_bytes);
    if (is_one_unit(tag)) [[likely]]
        return trace::record_unit_bytes;
    if ((two_units >> (tag & 31) & 1) != 0) [[likely]]
        return 2 * trace::record_unit_bytes;
    return trace::record_bytes(tag);
}

/// Returns the size of the record at `at`, and its tag. Returns 0 if the record is not written, or
/// not whole before `end`. A thread may be writing there.
inline std::size_t complete_record(const char* at, const char* end, std::uint64_t& tag) noexcept {
    if (end - at < static_cast<std::ptrdiff_t>(trace::record_unit_bytes)) return 0;
    tag = load_word(at + sizeof(std::uint64_t));
    const std::size_t bytes = bytes_of_record(tag);
    return bytes <= static_cast<std::size_t>(end - at) ? bytes : 0;
}

/// Calls `visit(record, tag)` for each complete record in the `room` bytes at `records`, and
/// returns the end of the last one. A thread may be writing there.
template <class Visitor>
const char* walk_records(const char* records, std::size_t room, Visitor visit) noexcept {
    const char* const end = records + room;
    std::uint64_t tag = 0;
    while (const std::size_t bytes = complete_record(records, end, tag)) {
        visit(records, tag);
        records += bytes;
    }
    return records;
}

/// Returns the beginning of a chunk's records.
inline const char* records_of(const trace::chunk_header& chunk) noexcept {
    return reinterpret_cast<const char*>(&chunk) + trace::chunk_header_bytes;
}
inline char* records_of(trace::chunk_header& chunk) noexcept {
    return reinterpret_cast<char*>(&chunk) + trace::chunk_header_bytes;
}

/// Measures the written part of a chunk of `chunk_bytes` bytes. Its thread may be writing to it.
chunk_extent measure(const trace::chunk_header& chunk, std::uint32_t chunk_bytes) noexcept;

/// Fills in extent and checksum and seals the chunk. No other thread may write to the chunk
/// meanwhile. Returns false and changes nothing if a place below the used_bytes of hand_over() is
/// not written yet.
bool seal(trace::chunk_header& chunk, std::uint32_t chunk_bytes) noexcept;

/// Empties a chunk, which the caller must own: all its bytes become zero.
void empty(trace::chunk_header& chunk, std::uint32_t chunk_bytes) noexcept;

}  // namespace coroscope::runtime::inline store
