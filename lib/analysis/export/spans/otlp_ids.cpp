// SPDX-License-Identifier: Apache-2.0
#include "otlp_ids.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace coroscope::analysis::inline spans {
namespace {

/// A bijection whose output bits all depend on all input bits: two rounds of a multiplication by an
/// odd number and a shift.
std::uint64_t scattered(std::uint64_t value) {
    constexpr std::uint64_t first = 0xd6e8'feb8'6659'fd93, second = 0xcf9b'dd65'0f3a'1c4b;
    value = (value ^ value >> 32) * first;
    value = (value ^ value >> 29) * second;
    return value ^ value >> 32;
}

std::uint64_t joined(std::uint64_t left, std::uint64_t right) {
    return scattered(scattered(left) + right);
}

void put(std::span<unsigned char> to, std::uint64_t value) {
    constexpr unsigned bits = 8;
    value = std::max<std::uint64_t>(value, 1);  // an id must not be zero
    for (auto byte = to.rbegin(); byte != to.rend(); ++byte) {
        *byte = static_cast<unsigned char>(value);
        value >>= bits;
    }
}

int hex_digit(char digit) {
    constexpr int ten = 10;
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + ten;
    return -1;
}

/// Returns whether the digits are an id that is not zero.
bool read_id(std::string_view digits, std::span<unsigned char> id) {
    bool is_zero = true;
    for (std::size_t at = 0; at < id.size(); ++at) {
        const int high = hex_digit(digits[2 * at]);
        const int low = hex_digit(digits[2 * at + 1]);
        if (high < 0 || low < 0) return false;
        id[at] = static_cast<unsigned char>(high << 4 | low);
        is_zero = is_zero && id[at] == 0;
    }
    return !is_zero;
}

}  // namespace

otlp_ids::otlp_ids(const trace& from)
    : session_(joined(from.process_id, static_cast<std::uint64_t>(from.start_realtime_ns))) {
    session_ = joined(session_, static_cast<std::uint64_t>(from.start_monotonic_ns));
    for (const char each : from.trace_id)
        session_ = joined(session_, static_cast<unsigned char>(each));
}

otlp_trace_id otlp_ids::trace_of(of kind, std::uint64_t number) const {
    constexpr std::uint64_t upper = 4, lower = 8;
    const auto which = static_cast<std::uint64_t>(kind);
    otlp_trace_id id;
    put(std::span(id).first<8>(), joined(joined(session_, which + upper), number));
    put(std::span(id).last<8>(), joined(joined(session_, which + lower), number));
    return id;
}

otlp_span_id otlp_ids::span_of(of kind, std::uint64_t number) const {
    otlp_span_id id;
    put(id, joined(joined(session_, static_cast<std::uint64_t>(kind)), number));
    return id;
}

std::optional<otlp_context> read_traceparent(std::string_view text) {
    constexpr std::size_t length = 55, trace_at = 3, span_at = 36, flags_at = 53;
    if (text.size() != length || text.substr(0, trace_at) != "00-" || text[span_at - 1] != '-' ||
        text[flags_at - 1] != '-')
        return std::nullopt;
    otlp_context read;
    if (!read_id(text.substr(trace_at), read.trace) || !read_id(text.substr(span_at), read.span))
        return std::nullopt;
    return read;
}

}  // namespace coroscope::analysis::inline spans
