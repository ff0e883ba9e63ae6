// SPDX-License-Identifier: Apache-2.0
#include <coroscope/shapes.hpp>

#include <algorithm>
#include <cstring>

#include <coroscope/attribute.hpp>

namespace coroscope {

void shape_writer::line::add(const char* from, std::size_t bytes) noexcept {
    if (full || bytes > line_bytes - size) {
        full = true;
        return;
    }
    std::memcpy(text + size, from, bytes);
    size += bytes;
}

void shape_writer::line::add_number(std::int64_t number) noexcept {
    char digits[24];
    char* const end = digits + sizeof digits;
    const char* first = detail::format_integer(number, end);
    add(first, static_cast<std::size_t>(end - first));
}

void shape_writer::line::add_quoted(const char* from, std::size_t bytes) noexcept {
    add("\"", 1);
    for (std::size_t at = 0; at < bytes; ++at) {
        const auto c = static_cast<unsigned char>(from[at]);
        if (c == '"' || c == '\\') add("\\", 1);
        if (c < 0x20) {
            const char escaped[] = {
                '\\', 'u', '0', '0', "0123456789abcdef"[c >> 4], "0123456789abcdef"[c & 15]};
            add(escaped, sizeof escaped);
        } else {
            add(from + at, 1);
        }
    }
    add("\"", 1);
}

// Before an element that may not be the first.
void shape_writer::line::separate() noexcept {
    if (size != 0 && text[size - 1] != '[') add(", ", 2);
}

void shape_writer::begin_argument() noexcept {
    for (line* each : {&dimensions_, &strides_, &types_, &values_}) {
        if (each->size == 0) each->add("[", 1);
        each->separate();
    }
    dimensions_.add("[", 1);
    rollback_ = strides_.size;
    strides_.add("[", 1);
    strides_known_ = true;
    has_type_ = false;
    has_value_ = false;
}

void shape_writer::dimension(std::uint64_t extent, std::int64_t stride) noexcept {
    dimensions_.separate();
    dimensions_.add_number(static_cast<std::int64_t>(extent));
    strides_.separate();
    strides_.add_number(stride);
    if (stride == unknown_stride) strides_known_ = false;
}

void shape_writer::type(const char* name, std::size_t size) noexcept {
    if (has_type_) return;
    has_type_ = true;
    types_.add_quoted(name, size);
}

void shape_writer::value(const argument_writer& text) noexcept {
    if (has_value_) return;
    has_value_ = true;
    constexpr std::size_t longest = 64;
    values_.add_quoted(text.data(), std::min(text.size(), longest));
}

void shape_writer::end_argument() noexcept {
    if (!strides_known_ && !strides_.full) {
        strides_.size = rollback_;
        strides_.add("[", 1);
    }
    dimensions_.add("]", 1);
    strides_.add("]", 1);
    if (!has_type_) types_.add_quoted("", 0);
    if (!has_value_) values_.add_quoted("", 0);
}

std::size_t shape_writer::finish(char* into) noexcept {
    std::size_t size = 0;
    for (line* each : {&dimensions_, &strides_, &types_, &values_}) {
        if (each->size == 0) each->add("[", 1);
        each->add("]", 1);
        if (each->full) return 0;
        std::memcpy(into + size, each->text, each->size);
        size += each->size;
        into[size++] = '\n';
    }
    return size - 1;  // the last line needs no end
}

}  // namespace coroscope
