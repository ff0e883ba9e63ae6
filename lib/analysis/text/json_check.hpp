// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks JSON byte by byte (RFC 8259, with well-formed UTF-8). The fast parser only detects that a
// window has an error. This class finds the error and its byte, finds the end of a value, and
// distinguishes a file that was cut from a malformed one.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace coroscope::analysis::inline text {

/// Deeper nesting is refused. No profiler writes it, and it would overflow the stack of a recursive
/// reader.
inline constexpr std::size_t deepest_nesting = 256;

class json_check {
public:
    explicit json_check(bool accept_nan = false) : accept_nan_(accept_nan) {}

    /// Reads until the value ends, an error is found, or there are no more bytes. Returns the
    /// number of bytes that it took. A number ends before the first byte that does not belong to
    /// it.
    std::size_t feed(const char* data, std::size_t size);

    [[nodiscard]] bool done() const { return expect_ == expected::nothing; }
    /// The error at the byte at which feed() stopped; null if there is none.
    [[nodiscard]] const char* problem() const { return problem_; }
    /// Starts again: the next byte begins a value.
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
    // The ways in which a number may continue.
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
    bool again_ = false;     // the byte ended a number or word: check it again
    std::uint8_t left_ = 0;  // missing digits of a code point, or bytes of a character
    unsigned char low_ = 0;  // bounds of a character's second byte
    unsigned char high_ = 0;
    std::string word_;
    std::size_t depth_ = 0;
    std::array<bool, deepest_nesting> is_object_{};
};

}  // namespace coroscope::analysis::inline text
