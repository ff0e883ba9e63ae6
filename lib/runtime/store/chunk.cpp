// SPDX-License-Identifier: Apache-2.0
#include "chunk.hpp"

#include <cstring>

#include <coroscope/trace/open_format.hpp>

// Inlined, so that a service that records need not load the library.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace coroscope::runtime::inline store {

using trace::chunk_header;
using trace::chunk_header_bytes;

namespace {

// Returns the end of the records of one unit that fill whole cache lines from `at` on. The chunk is
// in another processor's cache as a rule, so lines are fetched ahead. A word is read only if the
// record before it is complete: otherwise it may be in the middle of a record that its thread still
// writes.
const char* skip_lines(const char* at, const char* end) noexcept {
    constexpr std::ptrdiff_t line = 64;
    constexpr std::ptrdiff_t fetched_ahead = 1024;
    const auto tag = [&at](std::size_t record) noexcept {
        return load_word(at + record * trace::record_unit_bytes + sizeof(std::uint64_t));
    };
    for (; end - at >= line; at += line) {
        __builtin_prefetch(at + fetched_ahead);
        if (!(is_one_unit(tag(0)) && is_one_unit(tag(1)) && is_one_unit(tag(2)) &&
              is_one_unit(tag(3))))
            break;
    }
    return at;
}

chunk_extent measure_records(const char* records, std::size_t room) noexcept {
    const char* const end = records + room;
    std::uint32_t count = 0;
    const char* at = records;
    for (std::size_t bytes = 1; bytes != 0; at += bytes) {
        const char* const lines = at;
        at = skip_lines(lines, end);
        count += static_cast<std::uint32_t>(static_cast<std::size_t>(at - lines) /
                                            trace::record_unit_bytes);
        std::uint64_t tag = 0;
        bytes = complete_record(at, end, tag);
        count += bytes != 0 ? 1 : 0;
    }
    return {static_cast<std::uint32_t>(at - records), count};
}

// Measures a chunk of open scopes up to its last place in use.
chunk_extent measure_open(const char* places, std::size_t room) noexcept {
    chunk_extent extent{};
    for (std::size_t at = 0; at + sizeof(trace::open_scope) <= room;
         at += sizeof(trace::open_scope)) {
        if (load_word(places + at + offsetof(trace::open_scope, tag)) == 0) continue;
        extent.bytes = static_cast<std::uint32_t>(at + sizeof(trace::open_scope));
        ++extent.records;
    }
    return extent;
}

chunk_extent measure_tasks(const char* slots, std::size_t room) noexcept {
    std::size_t at = 0;
    std::uint32_t live = 0;
    for (; at + sizeof(trace::task_slot) <= room; at += sizeof(trace::task_slot))
        if (load_word(slots + at) != 0) ++live;
    return {static_cast<std::uint32_t>(at), live};
}

}  // namespace

chunk_extent measure(const chunk_header& chunk, std::uint32_t chunk_bytes) noexcept {
    const std::size_t room = chunk_bytes - chunk_header_bytes;
    switch (kind_of(load_word(&chunk))) {
        case trace::chunk_kind::tasks: return measure_tasks(records_of(chunk), room);
        case trace::chunk_kind::open: return measure_open(records_of(chunk), room);
        default: return measure_records(records_of(chunk), room);
    }
}

bool seal(chunk_header& chunk, std::uint32_t chunk_bytes) noexcept {
    const chunk_extent extent = measure(chunk, chunk_bytes);
    if (extent.bytes < chunk.used_bytes) return false;
    chunk.used_bytes = extent.bytes;
    chunk.records = extent.records;
    chunk.checksum = XXH3_64bits(records_of(chunk), extent.bytes);
    publish_word(&chunk, chunk_word(kind_of(load_word(&chunk)), trace::chunk_state::sealed));
    return true;
}

void empty(chunk_header& chunk, std::uint32_t chunk_bytes) noexcept {
    // The first word is cleared first. If the process is killed in between, the chunk does not look
    // valid with half of its old content.
    publish_word(&chunk, free_chunk_word);
    std::memset(&chunk.number, 0, chunk_bytes - offsetof(chunk_header, number));
    publish_word(&chunk, free_chunk_word);  // pairs with chunk_pool::open()
}

}  // namespace coroscope::runtime::inline store
