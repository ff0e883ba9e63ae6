// SPDX-License-Identifier: Apache-2.0
#include <coroscope/trace/reader.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <tuple>
#include <xxhash.h>

#include "file_bytes.hpp"
#include "trace_header.hpp"
#include "unpack.hpp"

namespace coroscope::trace {

static_assert(std::endian::native == std::endian::little,
              "traces are little-endian and read in place");

namespace {

constexpr std::size_t warning_limit = 64;

}  // namespace

/// Looks at each chunk once and fills a reader.
class reader_builder {
public:
    reader_builder(const unsigned char* data, std::uint64_t size) : data_(data) {
        built_.size_ = size;
    }

    result<reader> build() {
        auto header = read_header(data_, built_.size_);
        if (!header) return header.error();
        built_.header_ = *header;
        const std::uint64_t chunk_bytes = built_.header_.chunk_bytes;
        for (std::uint64_t at = file_header_bytes; at < built_.size_; at += chunk_bytes)
            examine(at, std::min(chunk_bytes, built_.size_ - at));
        warn_of_missing_bytes();
        std::sort(built_.chunks_.begin(), built_.chunks_.end(),
                  [](const chunk_view& left, const chunk_view& right) {
                      return std::tie(left.header.thread, left.header.number, left.offset) <
                             std::tie(right.header.thread, right.header.number, right.offset);
                  });
        if (unnamed_warnings_ != 0)
            built_.warnings_.push_back("and " + std::to_string(unnamed_warnings_) + " more");
        return std::move(built_);
    }

    void keep(std::shared_ptr<const unsigned char> file) { built_.file_ = std::move(file); }

    /// What there is to say of the packed trace from which the bytes come.
    void tell_of_packing(std::uint64_t packed_size, const unpacked_trace& unpacked) {
        built_.packed_size_ = packed_size;
        built_.damaged_chunks_ += unpacked.damaged_chunks;
        for (const std::string& each : unpacked.warnings) warn(each);
    }

private:
    void warn(std::string text) {
        if (built_.warnings_.size() < warning_limit)
            built_.warnings_.push_back(std::move(text));
        else
            ++unnamed_warnings_;
    }

    void warn_of_chunk(const chunk_view& chunk, std::uint64_t byte, const std::string& what) {
        ++built_.damaged_chunks_;
        warn("chunk " + std::to_string(chunk.header.number) + " at byte " +
             std::to_string(chunk.offset) + ": " + what + " (byte " + std::to_string(byte) + ")");
    }

    // A sealed file has exactly the chunks that its header counts.
    void warn_of_missing_bytes() {
        const std::uint64_t chunk_bytes = built_.header_.chunk_bytes;
        const std::uint64_t room =
            built_.size_ > file_header_bytes ? built_.size_ - file_header_bytes : 0;
        const std::uint64_t whole = room / chunk_bytes;
        if (whole >= built_.header_.chunk_count) return;
        warn("the file is cut off at byte " + std::to_string(built_.size_) + ": " +
             std::to_string(built_.header_.chunk_count - whole) + " of " +
             std::to_string(built_.header_.chunk_count) + " chunks are missing or incomplete");
    }

    void examine(std::uint64_t offset, std::uint64_t available) {
        if (available < chunk_header_bytes) return;  // counted by warn_of_missing_bytes
        chunk_view chunk;
        std::memcpy(&chunk.header, data_ + offset, sizeof(chunk.header));
        chunk.offset = offset;
        chunk.records = data_ + offset + chunk_header_bytes;
        chunk.bytes = available - chunk_header_bytes;
        if (!plausible(chunk)) return;
        if (chunk.header.state == chunk_state::sealed && !take_sealed(chunk, available)) return;
        if (chunk.header.kind == chunk_kind::tasks)
            chunk.bytes -= chunk.bytes % sizeof(task_slot);
        else
            keep_whole_records(chunk);
        if (chunk.bytes != 0) built_.chunks_.push_back(chunk);
    }

    bool plausible(const chunk_view& chunk) {
        const chunk_header& header = chunk.header;
        if (header.magic == 0 && header.state == chunk_state::free) return false;
        if (header.magic != chunk_magic) {
            warn_of_chunk(chunk, chunk.offset, "it does not begin like a chunk; left out");
            return false;
        }
        if (header.kind < chunk_kind::records || header.kind > chunk_kind::tasks) {
            warn_of_chunk(chunk, chunk.offset + offsetof(chunk_header, kind),
                          "its kind is unknown; left out");
            return false;
        }
        if (header.state > chunk_state::sealed) {
            warn_of_chunk(chunk, chunk.offset + offsetof(chunk_header, state),
                          "its state is unknown; left out");
            return false;
        }
        return true;
    }

    // A checksum can be verified only over all its bytes; of a chunk that the file's end cuts, the
    // records before the cut are taken as those of an open one.
    bool take_sealed(chunk_view& chunk, std::uint64_t available) {
        const std::uint64_t used = chunk.header.used_bytes;
        if (used > built_.header_.chunk_bytes - chunk_header_bytes) {
            warn_of_chunk(chunk, chunk.offset + offsetof(chunk_header, used_bytes),
                          "it claims more bytes than it has; left out");
            return false;
        }
        if (used > available - chunk_header_bytes) return true;
        chunk.bytes = used;
        if (XXH3_64bits(chunk.records, used) == chunk.header.checksum) return true;
        warn_of_chunk(chunk, chunk.offset + chunk_header_bytes,
                      "its checksum does not match; left out");
        return false;
    }

    void keep_whole_records(chunk_view& chunk) {
        std::size_t at = 0;
        std::uint32_t count = 0;
        record_view record = record_at(chunk.records, chunk.bytes);
        for (; record.bytes != 0; ++count) {
            at += record.bytes;
            record = record_at(chunk.records + at, chunk.bytes - at);
        }
        const bool cut_by_file = chunk.offset + built_.header_.chunk_bytes > built_.size_;
        if (record.tag != 0 && !(cut_by_file && record_bytes(record.tag) != 0))
            warn_of_chunk(chunk, chunk.offset + chunk_header_bytes + at,
                          "a record of unknown kind or size; the rest of the chunk is left out");
        else if (chunk.header.state == chunk_state::sealed && !cut_by_file &&
                 count != chunk.header.records)
            warn_of_chunk(chunk, chunk.offset + offsetof(chunk_header, records),
                          "it holds " + std::to_string(count) + " records and claims " +
                              std::to_string(chunk.header.records));
        chunk.bytes = at;
    }

    const unsigned char* data_;
    reader built_;
    std::uint64_t unnamed_warnings_ = 0;
};

namespace {

result<reader> open_packed(const unsigned char* data, std::uint64_t size) {
    auto unpacked = unpack(data, size);
    if (!unpacked) return unpacked.error();
    reader_builder builder(unpacked->bytes.data.get(), unpacked->bytes.size);
    builder.tell_of_packing(size, *unpacked);
    builder.keep(std::move(unpacked->bytes.data));
    return builder.build();
}

}  // namespace

result<reader> reader::open(const std::string& path) {
    auto file = read_file(path);
    if (!file) return file.error();
    if (is_packed(file->data.get(), file->size)) return open_packed(file->data.get(), file->size);
    reader_builder builder(file->data.get(), file->size);
    builder.keep(std::move(file->data));
    return builder.build();
}

result<reader> reader::open(const buffer& bytes) {
    if (is_packed(bytes.data(), bytes.size())) return open_packed(bytes.data(), bytes.size());
    return reader_builder(bytes.data(), bytes.size()).build();
}

bool is_trace(std::string_view first) noexcept {
    const auto* data = reinterpret_cast<const unsigned char*>(first.data());
    return is_packed(data, first.size()) ||
           (first.size() >= sizeof(file_magic) &&
            std::memcmp(data, &file_magic, sizeof(file_magic)) == 0);
}

}  // namespace coroscope::trace
