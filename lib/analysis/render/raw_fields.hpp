// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes fields of protobuf messages to where there is room, for the messages that an export has millions
// of. protozero's writers append byte by byte, and move what is in a message once they know its
// length: that takes more than twice as long.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <protozero/types.hpp>
#include <protozero/varint.hpp>

namespace coroscope::analysis::render {

class raw_fields {
public:
    explicit raw_fields(char* to) : to_(to) {}

    template <class Field>
    raw_fields& number(Field field, std::uint64_t value) {
        return varint(tag(field, protozero::pbf_wire_type::varint)).varint(value);
    }
    /// The beginning of a message of so many bytes, which are to follow.
    template <class Field>
    raw_fields& length(Field field, std::size_t bytes) {
        return varint(tag(field, protozero::pbf_wire_type::length_delimited)).varint(bytes);
    }
    /// Fields that were written before.
    raw_fields& fields(std::string_view bytes) {
        if (!bytes.empty()) std::memcpy(to_, bytes.data(), bytes.size());
        to_ += bytes.size();
        return *this;
    }
    [[nodiscard]] char* end() const noexcept { return to_; }

    /// How many bytes `number` and `length` take for the value.
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

}  // namespace coroscope::analysis::render
