// SPDX-License-Identifier: Apache-2.0
#include "chunk.hpp"

#include <cstring>

// Inlined, so that a service that records need not load the library.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace coroscope::runtime {

using trace::chunk_header;
using trace::chunk_header_bytes;

namespace {

const char* records_of(const chunk_header& chunk) noexcept {
    return reinterpret_cast<const char*>(&chunk) + chunk_header_bytes;
}

chunk_extent measure_records(const char* records, std::size_t room) noexcept {
    std::size_t at = 0;
    std::uint32_t count = 0;
    while (at + trace::record_unit_bytes <= room) {
        const std::size_t bytes =
            trace::record_bytes(load_word(records + at + sizeof(std::uint64_t)));
        if (bytes == 0 || bytes > room - at) break;
        at += bytes;
        ++count;
    }
    return {static_cast<std::uint32_t>(at), count};
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
    const bool tasks = kind_of(load_word(&chunk)) == trace::chunk_kind::tasks;
    return tasks ? measure_tasks(records_of(chunk), room)
                 : measure_records(records_of(chunk), room);
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
    // First, so that a process killed in between leaves no chunk that is half its old self.
    publish_word(&chunk, free_chunk_word);
    std::memset(&chunk.number, 0, chunk_bytes - offsetof(chunk_header, number));
    publish_word(&chunk, free_chunk_word);  // pairs with chunk_pool::open()
}

}  // namespace coroscope::runtime
