// SPDX-License-Identifier: Apache-2.0

// The reader of packed traces, and packing. The mutator gives blocks the checksums of their
// content, since the reader skips blocks with a wrong one. Input that is a native trace is packed,
// and must then read as before, however damaged it is.

#include "target.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include <coroscope/analysis/load.hpp>
#include <coroscope/analysis/views.hpp>
#include <coroscope/trace/pack.hpp>
#include <coroscope/trace/pack_format.hpp>
#include <coroscope/trace/reader.hpp>
#include <xxhash.h>

namespace coroscope_fuzz {

namespace analysis = coroscope::analysis;
namespace format = coroscope::trace;

namespace {

void check_same(const format::reader& one, const format::reader& other) {
    if (one.size() != other.size() || one.warnings() != other.warnings() ||
        one.damaged_chunks() != other.damaged_chunks() ||
        one.chunks().size() != other.chunks().size())
        std::abort();
    for (std::size_t at = 0; at < one.chunks().size(); ++at) {
        const format::chunk_view& left = one.chunks()[at];
        const format::chunk_view& right = other.chunks()[at];
        if (left.offset != right.offset || left.bytes != right.bytes ||
            std::memcmp(&left.header, &right.header, sizeof left.header) != 0 ||
            std::memcmp(left.records, right.records, left.bytes) != 0)
            std::abort();
    }
}

void check_packing(const format::buffer& bytes, const format::reader& read) {
    std::string packed;
    const auto done = format::pack(bytes, [&packed](std::string_view part) {
        packed.append(part);
        return true;
    });
    if (!done) return check_failure(done.error().message);
    const auto again = format::buffer::copy(packed.data(), packed.size());
    const auto unpacked = format::reader::open(again);
    if (!unpacked) std::abort();
    check_same(read, *unpacked);
}

}  // namespace

void feed(std::string_view bytes) {
    const auto copy = format::buffer::copy(bytes.data(), bytes.size());
    const auto read = format::reader::open(copy);
    if (!read) return check_failure(read.error().message);
    if (read->packed_size() == 0) return check_packing(copy, *read);
    const auto loaded = analysis::load(copy);
    if (loaded && analysis::info_text(*loaded).empty()) std::abort();
}

}  // namespace coroscope_fuzz

#if defined(COROSCOPE_FUZZER)
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using namespace coroscope_fuzz;

/// The offset of the first block, or 0 if the input has no room for a header.
std::size_t seal_header(std::uint8_t* data, std::size_t size) {
    format::pack_header header;
    if (size < sizeof header) return 0;
    std::memcpy(&header, data, sizeof header);
    if (header.header_bytes > size - sizeof header) return 0;
    header.checksum =
        XXH3_64bits_withSeed(data + sizeof header, header.header_bytes, header.trace_bytes);
    std::memcpy(data, &header, sizeof header);
    return sizeof header + header.header_bytes;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned int) {
    size = LLVMFuzzerMutate(data, size, most);
    if (size < sizeof format::pack_magic ||
        std::memcmp(data, &format::pack_magic, sizeof format::pack_magic) != 0)
        return size;
    format::pack_block_header block;
    for (std::size_t at = seal_header(data, size); at != 0 && at + sizeof block <= size;) {
        std::memcpy(&block, data + at, sizeof block);
        if (block.packed_bytes > size - at - sizeof block) break;
        block.checksum = XXH3_64bits(data + at + sizeof block, block.packed_bytes);
        block.header_checksum =
            XXH3_64bits(&block, offsetof(format::pack_block_header, header_checksum));
        std::memcpy(data + at, &block, sizeof block);
        at += sizeof block + block.packed_bytes;
    }
    return size;
}
#endif
