// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes fields of protobuf messages into reserved memory. An export uses it for the messages of
// which it has millions. protozero's writers append byte by byte, and move a message's content once
// they know its length, which takes more than twice as long.
//
// The caller must have reserved enough memory: nothing is checked.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <protozero/types.hpp>
#include <protozero/varint.hpp>

namespace coroscope::analysis::inline exports {

class raw_fields {
public:
    explicit raw_fields(char* to) : to_(to) {}

    template <class Field>
    raw_fields& number(Field field, std::uint64_t value) {
        return varint(tag(field, protozero::pbf_wire_type::varint)).varint(value);
    }
    /// Writes the beginning of a message of `bytes` bytes. The caller must write its fields next.
    template <class Field>
    raw_fields& length(Field field, std::size_t bytes) {
        return varint(tag(field, protozero::pbf_wire_type::length_delimited)).varint(bytes);
    }
    /// Copies fields that were encoded before.
    raw_fields& fields(std::string_view bytes) {
        if (!bytes.empty()) std::memcpy(to_, bytes.data(), bytes.size());
        to_ += bytes.size();
        return *this;
    }
    [[nodiscard]] char* end() const noexcept { return to_; }

    /// Returns the number of bytes that number() and length() write for `value`.
    template <class Field>
    [[nodiscard]] static constexpr std::size_t size(Field field, std::uint64_t value) {
        return varint_size(tag(field, protozero::pbf_wire_type::varint)) + varint_size(value);
    }

private:
    template <class Field>
    static constexpr std::uint32_t tag(Field field, protozero::pbf_wire_type type) {
        return static_cast<std::uint32_t>(field) << 3U | static_cast<std::uint32_t>(type);
    }
    static constexpr std::size_t varint_size(std::uint64_t value) {
        return (static_cast<std::size_t>(std::bit_width(value | 1U)) + 6) / 7;
    }
    raw_fields& varint(std::uint64_t value) {
        to_ += protozero::add_varint_to_buffer(to_, value);
        return *this;
    }

    char* to_;
};

}  // namespace coroscope::analysis::inline exports
