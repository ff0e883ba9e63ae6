// SPDX-License-Identifier: Apache-2.0
#include <coroscope/trace/pack.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <span>
#include <xxhash.h>

#include <coroscope/trace/pack_format.hpp>

#include "file_bytes.hpp"
#include "pack_block.hpp"
#include "trace_header.hpp"
#include "unpack.hpp"

namespace coroscope::trace {
namespace {

template <class Part>
std::string_view bytes_of(const Part& part) {
    return {reinterpret_cast<const char*>(&part), sizeof(part)};
}

/// Writes a trace's header and its chunks, several in each block.
class packer {
public:
    packer(std::span<const unsigned char> trace, const file_header& header, const pack_sink& sink)
        : trace_(trace), chunk_bytes_(header.chunk_bytes), sink_(sink) {}

    result<pack_totals> pack() {
        const std::size_t header_bytes = std::min(file_header_bytes, trace_.size());
        if (!write_header(trace_.first(header_bytes))) return cut_short();
        const std::size_t step =
            std::max<std::size_t>(pack_block_limit / chunk_bytes_, 1) * chunk_bytes_;
        for (std::size_t at = header_bytes; at < trace_.size(); at += step)
            if (!write_block(trace_.subspan(at, std::min(step, trace_.size() - at))))
                return cut_short();
        return pack_totals{trace_.size(), packed_};
    }

private:
    static failure cut_short() { return failure{"could not be written"}; }

    bool write(std::string_view bytes) {
        packed_ += bytes.size();
        return sink_(bytes);
    }

    bool write_header(std::span<const unsigned char> bytes) {
        columns_.bytes(bytes.data(), bytes.size());
        const std::string& packed = columns_.written();
        const pack_header header{pack_magic, pack_version,
                                 static_cast<std::uint32_t>(packed.size()), trace_.size(),
                                 XXH3_64bits_withSeed(packed.data(), packed.size(), trace_.size())};
        return write(bytes_of(header)) && write(packed);
    }

    bool write_block(std::span<const unsigned char> chunks) {
        std::uint32_t count = 0;
        for (std::size_t at = 0; at < chunks.size(); at += chunk_bytes_, ++count)
            block_.add(chunks.subspan(at, std::min(chunk_bytes_, chunks.size() - at)));
        columns_.clear();
        block_.finish(columns_);
        const std::string& packed = columns_.written();
        pack_block_header header{pack_block_magic,
                                 count,
                                 static_cast<std::uint32_t>(packed.size()),
                                 0,
                                 XXH3_64bits(packed.data(), packed.size()),
                                 0};
        header.header_checksum = XXH3_64bits(&header, offsetof(pack_block_header, header_checksum));
        return write(bytes_of(header)) && write(packed);
    }

    std::span<const unsigned char> trace_;
    std::size_t chunk_bytes_;
    const pack_sink& sink_;
    std::uint64_t packed_ = 0;
    column_writer columns_;
    block_packer block_;
};

result<pack_totals> pack_bytes(const unsigned char* data, std::size_t size, const pack_sink& sink) {
    if (is_packed(data, size)) return failure{"is packed already", 0};
    const auto header = read_header(data, size);
    if (!header) return header.error();
    try {
        return packer({data, size}, *header, sink).pack();
    } catch (const std::exception&) {  // from the standard library: no memory, or a size too large
        return failure{"does not fit into memory"};
    }
}

}  // namespace

result<pack_totals> pack(const std::string& path, const pack_sink& sink) {
    const auto file = read_file(path);
    if (!file) return file.error();
    return pack_bytes(file->data.get(), file->size, sink);
}

result<pack_totals> pack(const buffer& bytes, const pack_sink& sink) {
    return pack_bytes(bytes.data(), bytes.size(), sink);
}

}  // namespace coroscope::trace
