// SPDX-License-Identifier: Apache-2.0
#include <coroscope/arguments.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace coroscope {

void argument_writer::text(const char* data, std::size_t size) noexcept {
    const std::size_t kept = std::min(size, capacity - size_);
    if (kept != 0) std::memcpy(buffer_ + size_, data, kept);  // no text may be a null pointer
    size_ += kept;
    if (kept < size) cut_ = true;
}

void argument_writer::terminated_text(const char* data, std::size_t limit) noexcept {
    // One byte more than fits, to learn whether anything is cut.
    text(data, strnlen(data, std::min(limit, capacity - size_ + 1)));
}

void argument_writer::integer(std::int64_t value) noexcept {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    text(digits, static_cast<std::size_t>(end - digits));
}

void argument_writer::natural(std::uint64_t value) noexcept {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    text(digits, static_cast<std::size_t>(end - digits));
}

void argument_writer::real(double value) noexcept {
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    text(digits, static_cast<std::size_t>(end - digits));
}

void argument_writer::address(const void* value) noexcept {
    char digits[24] = {'0', 'x'};
    const auto bits = reinterpret_cast<std::uintptr_t>(value);
    const auto end = std::to_chars(digits + 2, digits + sizeof digits, bits, 16).ptr;
    text(digits, static_cast<std::size_t>(end - digits));
}

}  // namespace coroscope
