// SPDX-License-Identifier: Apache-2.0
#include "pack_columns.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <zstd.h>

namespace coroscope::trace {
namespace {

// Chosen by measurement: higher levels save little and take several times as long.
constexpr int compression_level = 15;

constexpr unsigned plane_bits = 8;
constexpr unsigned char sequence_form = 9;  // in place of the number of planes
constexpr unsigned sequence_bits = 7;
constexpr unsigned char goes_on = 0x80;
constexpr std::size_t most_sequence_bytes = 10;
constexpr unsigned most_shift = most_sequence_bytes * sequence_bits;

std::size_t planes_of(const column& values) {
    std::uint64_t all = 0;
    for (const std::uint64_t each : values) all |= each;
    return (static_cast<std::size_t>(std::bit_width(all)) + plane_bits - 1) / plane_bits;
}

}  // namespace

struct column_writer::state {
    std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context{ZSTD_createCCtx(), ZSTD_freeCCtx};
};

column_writer::column_writer() : state_(std::make_unique<state>()) {
    ZSTD_CCtx* context = state_->context.get();
    if (context == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, compression_level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
}

column_writer::~column_writer() = default;

void column_writer::number(std::string& to, std::uint64_t value) {
    for (; value >= goes_on; value >>= sequence_bits)
        to += static_cast<char>(static_cast<unsigned char>(value | goes_on));
    to += static_cast<char>(value);
}

void column_writer::bytes(const void* data, std::size_t size) {
    if (size == 0) return;
    std::string packed(ZSTD_compressBound(size), '\0');
    const std::size_t used =
        ZSTD_compress2(state_->context.get(), packed.data(), packed.size(), data, size);
    if (ZSTD_isError(used) != 0) throw std::bad_alloc();  // the room suffices, so memory is short
    number(written_, used);
    written_.append(packed, 0, used);
}

void column_writer::numbers(const column& values) {
    if (values.empty()) return;
    const std::size_t begin = written_.size();
    const std::size_t planes = planes_of(values);
    as_planes(values, planes);
    if (planes == 0) return;
    const std::string other = written_.substr(begin);
    written_.resize(begin);
    as_sequence(values);
    if (written_.size() - begin < other.size()) return;
    written_.replace(begin, std::string::npos, other);
}

void column_writer::as_planes(const column& values, std::size_t planes) {
    written_ += static_cast<char>(planes);
    part_.resize(values.size());
    for (std::size_t plane = 0; plane < planes; ++plane) {
        std::transform(values.begin(), values.end(), part_.begin(), [plane](std::uint64_t each) {
            return static_cast<char>(static_cast<unsigned char>(each >> (plane * plane_bits)));
        });
        bytes(part_.data(), part_.size());
    }
}

void column_writer::as_sequence(const column& values) {
    written_ += static_cast<char>(sequence_form);
    part_.clear();
    for (const std::uint64_t each : values) number(part_, each);
    number(written_, part_.size());
    bytes(part_.data(), part_.size());
}

struct column_reader::state {
    std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context{ZSTD_createDCtx(), ZSTD_freeDCtx};
};

column_reader::column_reader() : state_(std::make_unique<state>()) {
    if (state_->context == nullptr) throw std::bad_alloc();
}

column_reader::~column_reader() = default;

void column_reader::begin(const unsigned char* data, std::size_t size) {
    next_ = data;
    left_ = size;
}

bool column_reader::number(const unsigned char*& next, std::size_t& left, std::uint64_t& to) {
    to = 0;
    for (unsigned shift = 0; left != 0 && shift < most_shift; shift += sequence_bits) {
        const unsigned char each = *next++;
        --left;
        to |= std::uint64_t{each & (goes_on - 1U)} << shift;
        if (each < goes_on) return true;
    }
    return false;
}

bool column_reader::bytes(unsigned char* to, std::size_t size) {
    if (size == 0) return true;
    std::uint64_t packed = 0;
    if (!number(next_, left_, packed) || packed > left_) return false;
    const auto length = static_cast<std::size_t>(packed);
    const std::size_t got = ZSTD_decompressDCtx(state_->context.get(), to, size, next_, length);
    next_ += length;
    left_ -= length;
    return got == size;  // an error differs from every size
}

bool column_reader::bytes(std::vector<unsigned char>& to, std::size_t size) {
    to.resize(size);
    return bytes(to.data(), size);
}

bool column_reader::numbers(column& to, std::size_t count) {
    to.assign(count, 0);
    if (count == 0) return true;
    if (left_ == 0) return false;
    const std::size_t planes = *next_++;
    --left_;
    if (planes == sequence_form) return sequence(to);
    if (planes > sizeof(std::uint64_t)) return false;
    for (std::size_t plane = 0; plane < planes; ++plane) {
        if (!bytes(part_, count)) return false;
        for (std::size_t at = 0; at < count; ++at)
            to[at] |= std::uint64_t{part_[at]} << (plane * plane_bits);
    }
    return true;
}

bool column_reader::sequence(column& to) {
    std::uint64_t size = 0;
    if (!number(next_, left_, size) || size > to.size() * most_sequence_bytes ||
        !bytes(part_, static_cast<std::size_t>(size)))
        return false;
    const unsigned char* next = part_.data();
    std::size_t left = part_.size();
    for (std::uint64_t& each : to)
        if (!number(next, left, each)) return false;
    return left == 0;
}

}  // namespace coroscope::trace
