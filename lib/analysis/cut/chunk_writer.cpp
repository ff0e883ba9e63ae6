// SPDX-License-Identifier: Apache-2.0
#include "chunk_writer.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <xxhash.h>

namespace coroscope::analysis::inline cutting {

namespace format = coroscope::trace;

void chunk_writer::begin(const format::chunk_header& first) {
    seal();
    next_ = first;
}

void chunk_writer::add(const format::record_view& record) {
    add_bytes(record.data, record.bytes, record.word(0));
}

void chunk_writer::add(std::uint64_t ticks, std::uint64_t tag, std::uint64_t third,
                       std::uint64_t fourth) {
    const std::array words{ticks, tag, third, fourth};
    add_bytes(words.data(), sizeof words, ticks);
}

void chunk_writer::copy(const format::chunk_view& chunk) {
    seal();
    next_ = chunk.header;
    if (chunk.header.kind == format::chunk_kind::metadata) {
        format::for_each_record(chunk, [&](const format::record_view& record) { add(record); });
    } else {
        header_ = next_;
        open_.append(reinterpret_cast<const char*>(chunk.records), chunk.bytes);
        open_records_ = chunk.header.records;
    }
    seal();
}

void chunk_writer::add_bytes(const void* bytes, std::size_t count, std::uint64_t ticks) {
    if (open_.size() + count > chunk_bytes_ - format::chunk_header_bytes) {
        seal();
        next_.opened_ticks = std::max(next_.opened_ticks, ticks);
    }
    if (open_.empty()) header_ = next_;
    open_.append(static_cast<const char*>(bytes), count);
    ++open_records_;
    ++records_;
}

void chunk_writer::seal() {
    if (open_.empty()) return;
    header_.magic = format::chunk_magic;
    header_.state = format::chunk_state::sealed;
    header_.number = ++chunks_;
    header_.records = open_records_;
    header_.used_bytes = static_cast<std::uint32_t>(open_.size());
    header_.checksum = XXH3_64bits(open_.data(), open_.size());
    header_.thread_body_offset = 0;
    out_.append(reinterpret_cast<const char*>(&header_), sizeof header_);
    open_.resize(chunk_bytes_ - format::chunk_header_bytes, '\0');
    out_ += open_;
    open_.clear();
    open_records_ = 0;
}

std::string chunk_writer::take() {
    seal();
    return std::exchange(out_, {});
}

}  // namespace coroscope::analysis::inline cutting
