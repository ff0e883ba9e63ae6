// SPDX-License-Identifier: Apache-2.0
#include "chunk_inspection.hpp"

#include <algorithm>
#include <cstring>
#include <xxhash.h>

namespace coroscope::trace {
namespace {

/// Walks over the records of kind scope at the beginning.
void pass_scopes(const unsigned char* records, std::size_t bytes, chunk_inspection& found) {
    std::uint64_t first = ~std::uint64_t{0};
    std::uint64_t last = 0;
    std::size_t at = 0;
    for (; bytes - at >= record_unit_bytes; at += record_unit_bytes) {
        std::uint64_t words[2];
        std::memcpy(words, records + at, sizeof words);
        if (trace::tag_kind(words[1]) != record_kind::scope) break;
        first = std::min(first, words[0]);
        last = std::max(last, words[0]);
    }
    found.bytes = at;
    found.records = static_cast<std::uint32_t>(at / record_unit_bytes);
    found.starts = {first, last};
}

void pass_records(const unsigned char* records, std::size_t bytes, chunk_inspection& found) {
    pass_scopes(records, bytes, found);
    record_view record = trace::record_at(records + found.bytes, bytes - found.bytes);
    if (record.bytes != 0 || found.records == 0) found.starts = {};
    for (; record.bytes != 0; ++found.records) {
        found.handed_on |= record.kind() == record_kind::next_thread;
        found.bytes += record.bytes;
        record = trace::record_at(records + found.bytes, bytes - found.bytes);
    }
    found.next_tag = record.tag;
}

}  // namespace

bool holds_records(chunk_kind kind) {
    return kind == chunk_kind::records || kind == chunk_kind::metadata ||
           kind == chunk_kind::kernel;
}

chunk_inspection inspect(const unsigned char* data, std::uint64_t available) {
    chunk_inspection found;
    if (available < chunk_header_bytes) return found;
    chunk_header& header = found.header;
    std::memcpy(&header, data, sizeof header);
    if (header.magic != chunk_magic) return found;
    const unsigned char* const records = data + chunk_header_bytes;
    std::uint64_t bytes = available - chunk_header_bytes;
    if (header.state == chunk_state::sealed && header.used_bytes <= bytes) {
        bytes = header.used_bytes;
        found.sum_matches = XXH3_64bits(records, bytes) == header.checksum;
    }
    if (found.sum_matches && holds_records(header.kind)) pass_records(records, bytes, found);
    return found;
}

}  // namespace coroscope::trace
