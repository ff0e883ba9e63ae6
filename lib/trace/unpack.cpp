// SPDX-License-Identifier: Apache-2.0
#include "unpack.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <xxhash.h>

#include <coroscope/trace/pack_format.hpp>

#include "pack_columns.hpp"
#include "trace_header.hpp"
#include "unpack_block.hpp"

namespace coroscope::trace {
namespace {

struct block_place {
    pack_block_header header;
    std::uint64_t offset;  ///< offset of its header in the packed trace
    std::uint64_t begin;   ///< offset of its first chunk in the trace
    std::uint64_t bytes;   ///< size of its chunks
};

class trace_unpacker {
public:
    trace_unpacker(const unsigned char* data, std::uint64_t size) : data_(data), size_(size) {}

    result<unpacked_trace> unpack() {
        if (auto problem = read_pack_header()) return *std::move(problem);
        find_blocks();
        make_room();
        std::memcpy(room_, first_.data(), first_.size());
        for (const block_place& block : blocks_) {
            restore(block, {room_ + block.begin, block.bytes});
            if (!may_unpack(size_, written_))
                return failure{"unpacks to more than 64 times its size, as no recording does",
                               block.offset};
        }
        return std::move(unpacked_);
    }

private:
    std::optional<failure> read_pack_header();
    void find_blocks();
    std::optional<block_place> block_at(std::uint64_t offset) const;
    void restore(const block_place& block, std::span<unsigned char> chunks);
    void make_room();

    const unsigned char* data_;
    std::uint64_t size_;
    pack_header header_{};
    std::vector<unsigned char> first_;  // the trace's header
    std::uint64_t chunk_bytes_ = 0;
    std::vector<block_place> blocks_;
    std::uint64_t end_ = 0;      // of the trace, as far as its blocks are known
    std::uint64_t written_ = 0;  // bytes of chunks that are not empty
    unsigned char* room_ = nullptr;
    column_reader columns_;
    unpacked_trace unpacked_;
};

std::optional<failure> trace_unpacker::read_pack_header() {
    if (size_ < sizeof(header_)) return failure{"ends inside the packed trace's header", size_};
    std::memcpy(&header_, data_, sizeof(header_));
    if (header_.version > pack_version)
        return failure{"was packed in version " + std::to_string(header_.version) +
                           " of the packed format; this program reads up to version " +
                           std::to_string(pack_version),
                       offsetof(pack_header, version)};
    if (header_.version == 0)
        return failure{"names version 0 of the packed format", offsetof(pack_header, version)};
    const unsigned char* packed = data_ + sizeof(header_);
    if (header_.header_bytes > size_ - sizeof(header_))
        return failure{"ends inside the packed trace's header", size_};
    first_.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(file_header_bytes, header_.trace_bytes)));
    columns_.begin(packed, header_.header_bytes);
    if (XXH3_64bits_withSeed(packed, header_.header_bytes, header_.trace_bytes) !=
            header_.checksum ||
        !columns_.bytes(first_.data(), first_.size()) || !columns_.at_end())
        return failure{"has a packed header that is damaged", sizeof(header_)};
    const auto header = read_header(first_.data(), first_.size());
    if (!header) return failure{"holds a trace that " + header.error().message, sizeof(header_)};
    chunk_bytes_ = header->chunk_bytes;
    end_ = first_.size();
    return std::nullopt;
}

// Finds all blocks before restoring one: the length of the trace is computed from the blocks that
// exist, not taken from the header.
void trace_unpacker::find_blocks() {
    std::uint64_t offset = sizeof(header_) + header_.header_bytes;
    while (offset < size_) {
        const auto block = block_at(offset);
        if (!block) {
            unpacked_.warnings.push_back(
                "the packed trace's block at byte " + std::to_string(offset) +
                " is cut or does not begin like one; it and what follows are left out");
            return;
        }
        blocks_.push_back(*block);
        end_ = block->begin + block->bytes;
        offset += sizeof(pack_block_header) + block->header.packed_bytes;
    }
    if (end_ < header_.trace_bytes)
        unpacked_.warnings.push_back("the packed trace is cut off at byte " +
                                     std::to_string(size_) + ": it holds " + std::to_string(end_) +
                                     " of " + std::to_string(header_.trace_bytes) + " bytes");
}

std::optional<block_place> trace_unpacker::block_at(std::uint64_t offset) const {
    block_place block{{}, offset, end_, 0};
    if (size_ - offset < sizeof(block.header)) return std::nullopt;
    std::memcpy(&block.header, data_ + offset, sizeof(block.header));
    const pack_block_header& header = block.header;
    const std::uint64_t most = std::max<std::uint64_t>(pack_block_limit / chunk_bytes_, 1);
    if (header.magic != pack_block_magic || header.chunks == 0 || header.chunks > most ||
        header.packed_bytes > size_ - offset - sizeof(header) || end_ >= header_.trace_bytes ||
        (header.chunks - 1) * chunk_bytes_ >= header_.trace_bytes - end_ ||
        header.header_checksum !=
            XXH3_64bits(&header, offsetof(pack_block_header, header_checksum)))
        return std::nullopt;
    block.bytes = std::min(header.chunks * chunk_bytes_, header_.trace_bytes - end_);
    return block;
}

void trace_unpacker::restore(const block_place& block, std::span<unsigned char> chunks) {
    const unsigned char* packed = data_ + block.offset + sizeof(block.header);
    columns_.begin(packed, block.header.packed_bytes);
    const bool intact = XXH3_64bits(packed, block.header.packed_bytes) == block.header.checksum;
    std::vector<bool>& filled = unpacked_.filled;
    const std::size_t first = filled.size();
    if (intact && unpack_block(columns_, chunks, chunk_bytes_, header_.version, filled)) {
        for (std::size_t at = 0; at < chunks.size(); at += chunk_bytes_)
            if (filled[first + at / chunk_bytes_])
                written_ += std::min(chunk_bytes_, chunks.size() - at);
        return;
    }
    std::fill(chunks.begin(), chunks.end(), static_cast<unsigned char>(0));
    filled.resize(first);
    filled.resize(first + block.header.chunks, false);
    unpacked_.damaged_chunks += block.header.chunks;
    unpacked_.warnings.push_back(
        "the packed trace's block at byte " + std::to_string(block.offset) +
        (intact ? ": its columns contradict each other" : ": its checksum does not match") +
        "; its " + std::to_string(block.header.chunks) + " chunks are left out");
}

// Pages without restored bytes take no memory, as long as nobody reads them.
void trace_unpacker::make_room() {
    room_ = static_cast<unsigned char*>(std::calloc(end_, 1));
    if (room_ == nullptr) throw std::bad_alloc();
    unpacked_.bytes.data = {
        room_, [](const unsigned char* each) { std::free(const_cast<unsigned char*>(each)); }};
    unpacked_.bytes.size = end_;
}

}  // namespace

bool is_packed(const unsigned char* data, std::uint64_t size) noexcept {
    return size >= sizeof(pack_magic) && std::memcmp(data, &pack_magic, sizeof(pack_magic)) == 0;
}

result<unpacked_trace> unpack(const unsigned char* data, std::uint64_t size) {
    try {
        return trace_unpacker(data, size).unpack();
    } catch (const std::exception&) {  // from the standard library: no memory, or a size too large
        return failure{"does not fit into memory"};
    }
}

}  // namespace coroscope::trace
