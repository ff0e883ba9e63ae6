// SPDX-License-Identifier: Apache-2.0
#include "column_tables.hpp"

#include <bit>
#include <limits>

#include "../text/utf8.hpp"

namespace coroscope::analysis::inline pages {
namespace {

// The page reads a varint as a double, and the difference of two values needs a bit more.
constexpr std::int64_t most_of_column = (std::int64_t{1} << 52) - 1;
constexpr std::size_t part_of_column = 65536;

std::string_view name_of_coding(column_coding coding) {
    switch (coding) {
        case column_coding::byte: return "byte";
        case column_coding::count: return "count";
        case column_coding::maybe: return "maybe";
        case column_coding::delta: return "delta";
        case column_coding::back: return "back";
        case column_coding::real: break;
    }
    return "double";
}

std::int64_t least_of_coding(column_coding coding) {
    switch (coding) {
        case column_coding::byte:
        case column_coding::count: return 0;
        case column_coding::maybe:
        case column_coding::back: return -1;
        case column_coding::delta:
        case column_coding::real: break;
    }
    return -most_of_column;
}

}  // namespace

void column_tables::begin(std::string_view table, std::size_t rows) {
    rows_ = rows;
    has_column_ = false;
    if (!schema_.empty()) schema_ += ",\n";
    append_json_string(schema_, table);
    schema_ += ":{\"rows\":" + std::to_string(rows) + ",\"columns\":[";
    if (rows == 0) return;
    to_.begin_block("application/octet-stream", "coroscope-columns-" + std::string(table));
    compressed_ = std::make_unique<pipeline>(to_);
}

void column_tables::begin_column(const column_head& head) {
    head_ = head;
    before_ = 0;
    most_ = 0;
    least_ = 0;
}

void column_tables::end_column() {
    const bool is_double = head_.coding == column_coding::real ||
                           most_ > std::numeric_limits<std::int32_t>::max() ||
                           least_ < std::numeric_limits<std::int32_t>::min();
    schema_ += has_column_ ? "," : "";
    has_column_ = true;
    schema_ += "{\"name\":";
    append_json_string(schema_, head_.name);
    schema_.append(",\"coding\":\"").append(name_of_coding(head_.coding));
    schema_ += "\",\"array\":\"";
    schema_ += is_double ? "Float64Array" : least_ < 0 || most_ > 255 ? "Int32Array" : "Uint8Array";
    schema_ += '"';
    if (!head_.of.empty()) schema_.append(",\"of\":\"").append(head_.of).append("\"");
    schema_ += '}';
}

void column_tables::end() {
    schema_ += "]}";
    if (!compressed_) return;
    pass_on_if(1);
    compressed_->gzip.finish();
    compressed_->base64.finish();
    compressed_.reset();
    to_.end_block();
}

void column_tables::put(std::size_t row, std::int64_t value) {
    value = std::clamp(value, least_of_coding(head_.coding), most_of_column);
    most_ = std::max(most_, value);
    least_ = std::min(least_, value);
    switch (head_.coding) {
        case column_coding::byte: bytes_ += static_cast<char>(value); break;
        case column_coding::count: put_varint(static_cast<std::uint64_t>(value)); break;
        case column_coding::maybe: put_varint(static_cast<std::uint64_t>(value + 1)); break;
        case column_coding::back:
            put_varint(value < 0 ? 0 : row - static_cast<std::uint64_t>(value));
            break;
        case column_coding::delta: {
            const auto step = static_cast<std::uint64_t>(value - before_);
            put_varint(step << 1U ^ (value < before_ ? ~std::uint64_t{0} : 0));
            before_ = value;
            break;
        }
        case column_coding::real: break;
    }
    pass_on_if(part_of_column);
}

void column_tables::put_varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7U) bytes_ += static_cast<char>(value | 128U);
    bytes_ += static_cast<char>(value);
}

void column_tables::put_real(double value) {
    auto bits = std::bit_cast<std::uint64_t>(value);
    for (int byte = 0; byte < 8; ++byte, bits >>= 8U) bytes_ += static_cast<char>(bits & 255U);
    pass_on_if(part_of_column);
}

void column_tables::pass_on_if(std::size_t least) {
    if (bytes_.size() < least) return;
    compressed_->gzip.write(bytes_);
    bytes_.clear();
}

}  // namespace coroscope::analysis::inline pages
