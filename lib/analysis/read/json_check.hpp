// SPDX-License-Identifier: Apache-2.0
#pragma once

// The exact reader of JSON's grammar, byte by byte. The fast parser says that something is wrong with a
// window; this says what and at which byte, finds where a value ends, and tells a file that was cut from
// one that is malformed. RFC 8259, with well-formed UTF-8.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace coroscope::analysis::reading {

/// Deeper nesting than anybody's trace has is an attack on the stack of whoever reads it next.
inline constexpr std::size_t deepest_nesting = 256;

class json_check {
public:
    explicit json_check(bool accept_nan = false) : accept_nan_(accept_nan) {}

    /// Reads on until the value ends, something is wrong, or there are no more bytes. Returns how many
    /// bytes it took: a number ends before the byte that is none of it.
    std::size_t feed(const char* data, std::size_t size);

    [[nodiscard]] bool done() const { return expect_ == expected::nothing; }
    /// What is wrong with the byte at which feed() stopped; null where nothing is.
    [[nodiscard]] const char* problem() const { return problem_; }
    /// Forgets what it read: the next byte begins a value.
    void restart();

private:
    enum class expected : std::uint8_t {
        value,
        value_or_end,
        key,
        key_or_end,
        colon,
        comma_or_end,
        in_string,
        in_escape,
        in_code_point,
        in_character,  // the rest of a UTF-8 sequence
        in_number,
        in_word,
        nothing,
    };
    // What a number may go on with.
    enum class digits : std::uint8_t {
        first,
        integer,
        after_zero,
        first_of_fraction,
        fraction,
        sign,
        first_of_exponent,
        exponent
    };

    bool take(unsigned char byte);
    bool begin_value(unsigned char byte);
    bool begin_string(bool key);
    bool begin_character(unsigned char byte);
    bool in_string(unsigned char byte);
    bool in_escape(unsigned char byte);
    bool in_number(unsigned char byte);
    bool end_word();
    bool open(bool object);
    bool close(bool object);
    void end_value();
    bool wrong(const char* what) {
        problem_ = what;
        return false;
    }

    const char* problem_ = nullptr;
    expected expect_ = expected::value;
    digits number_ = digits::first;
    bool accept_nan_;
    bool is_key_ = false;
    bool again_ = false;     // the byte ended a number or word and is to be looked at again
    std::uint8_t left_ = 0;  // digits of a code point, or bytes of a character, still to come
    unsigned char low_ = 0;  // bounds of a character's second byte
    unsigned char high_ = 0;
    std::string word_;
    std::size_t depth_ = 0;
    std::array<bool, deepest_nesting> is_object_{};
};

}  // namespace coroscope::analysis::reading
