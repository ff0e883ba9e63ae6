// SPDX-License-Identifier: Apache-2.0
#include "json_check.hpp"

#include <algorithm>
#include <string_view>

namespace coroscope::analysis::inline text {
namespace {

constexpr std::size_t longest_word = 16;

bool is_space(unsigned char byte) {
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}
bool is_digit(unsigned char byte) { return byte >= '0' && byte <= '9'; }
bool is_letter(unsigned char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}
bool is_plain(unsigned char byte) {
    return byte >= ' ' && byte != '"' && byte != '\\' && byte < 0x80;
}
char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

}  // namespace

void json_check::restart() {
    problem_ = nullptr;
    expect_ = expected::value;
    depth_ = 0;
}

std::size_t json_check::feed(const char* data, std::size_t size) {
    std::size_t at = 0;
    while (at < size && !done() && problem_ == nullptr) {
        const auto byte = static_cast<unsigned char>(data[at]);
        if (expect_ == expected::in_string && is_plain(byte)) {
            ++at;
            continue;
        }
        again_ = false;
        if (take(byte) && !again_) ++at;
    }
    return at;
}

bool json_check::take(unsigned char byte) {
    switch (expect_) {
        case expected::in_string: return in_string(byte);
        case expected::in_escape: return in_escape(byte);
        case expected::in_code_point:
            if (!is_digit(byte) &&
                (lower(static_cast<char>(byte)) < 'a' || lower(static_cast<char>(byte)) > 'f'))
                return wrong("\\u is not followed by four hexadecimal digits");
            if (--left_ == 0) expect_ = expected::in_string;
            return true;
        case expected::in_character:
            if (byte < low_ || byte > high_) return wrong("bytes that are not UTF-8");
            low_ = 0x80;
            high_ = 0xbf;
            if (--left_ == 0) expect_ = expected::in_string;
            return true;
        case expected::in_number: return in_number(byte);
        case expected::in_word:
            if (!is_letter(byte) || word_.size() == longest_word) return end_word();
            word_ += lower(static_cast<char>(byte));
            return true;
        default: break;
    }
    if (is_space(byte)) return true;
    switch (expect_) {
        case expected::value_or_end:
            if (byte == ']') return close(false);
            return begin_value(byte);
        case expected::value: return begin_value(byte);
        case expected::key_or_end:
            if (byte == '}') return close(true);
            [[fallthrough]];
        case expected::key:
            if (byte != '"') return wrong("there is no key");
            return begin_string(true);
        case expected::colon:
            if (byte != ':') return wrong("there is no ':' after a key");
            expect_ = expected::value;
            return true;
        case expected::comma_or_end:
            if (byte == ',') {
                expect_ = is_object_[depth_ - 1] ? expected::key : expected::value;
                return true;
            }
            if (byte == '}' || byte == ']') return close(byte == '}');
            return wrong("there is neither ',' nor an end after a value");
        default: return true;
    }
}

bool json_check::begin_value(unsigned char byte) {
    word_.clear();
    if (byte == '{' || byte == '[') return open(byte == '{');
    if (byte == '"') return begin_string(false);
    if (is_letter(byte)) {
        expect_ = expected::in_word;
        again_ = true;
        return true;
    }
    if (byte != '-' && !is_digit(byte)) return wrong("there is no value");
    expect_ = expected::in_number;
    number_ = digits::first;
    if (byte == '-') {
        word_ += '-';
        return true;
    }
    return in_number(byte);
}

bool json_check::begin_string(bool key) {
    is_key_ = key;
    expect_ = expected::in_string;
    return true;
}

bool json_check::in_string(unsigned char byte) {
    if (byte == '\\') {
        expect_ = expected::in_escape;
        return true;
    }
    if (byte < ' ') return wrong("a control character in a text");
    if (byte != '"') return begin_character(byte);
    if (is_key_)
        expect_ = expected::colon;
    else
        end_value();
    return true;
}

// Unicode 15, table 3-7: the bytes that may follow a first byte, so that each character has one
// spelling and there is no surrogate.
bool json_check::begin_character(unsigned char byte) {
    if (byte < 0xc2 || byte > 0xf4) return wrong("bytes that are not UTF-8");
    left_ = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    low_ = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
    high_ = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;
    expect_ = expected::in_character;
    return true;
}

bool json_check::in_escape(unsigned char byte) {
    constexpr std::string_view known = "\"\\/bfnrt";
    if (byte == 'u') {
        left_ = 4;
        expect_ = expected::in_code_point;
        return true;
    }
    if (known.find(static_cast<char>(byte)) == std::string_view::npos)
        return wrong("an unknown escape in a text");
    expect_ = expected::in_string;
    return true;
}

bool json_check::in_number(unsigned char byte) {
    if (is_digit(byte)) {
        switch (number_) {
            case digits::first: number_ = byte == '0' ? digits::after_zero : digits::integer; break;
            case digits::after_zero: return wrong("a number that begins with 0");
            case digits::first_of_fraction: number_ = digits::fraction; break;
            case digits::sign:
            case digits::first_of_exponent: number_ = digits::exponent; break;
            default: break;
        }
        return true;
    }
    const bool integer = number_ == digits::integer || number_ == digits::after_zero;
    if (byte == '.' && integer) {
        number_ = digits::first_of_fraction;
        return true;
    }
    if ((byte == 'e' || byte == 'E') && (integer || number_ == digits::fraction)) {
        number_ = digits::sign;
        return true;
    }
    if ((byte == '+' || byte == '-') && number_ == digits::sign) {
        number_ = digits::first_of_exponent;
        return true;
    }
    if (number_ == digits::first && is_letter(byte)) {
        expect_ = expected::in_word;
        again_ = true;
        return true;
    }
    if (!integer && number_ != digits::fraction && number_ != digits::exponent)
        return wrong("a number without digits");
    again_ = true;
    end_value();
    return true;
}

bool json_check::end_word() {
    const bool nan = word_ == "nan" || word_ == "inf" || word_ == "infinity" || word_ == "-nan" ||
                     word_ == "-inf" || word_ == "-infinity";
    if (nan && !accept_nan_)
        return wrong("NaN or Infinity, which JSON does not have; accept-nan reads it");
    if (!nan && word_ != "true" && word_ != "false" && word_ != "null")
        return wrong("a word that JSON does not have");
    again_ = true;
    end_value();
    return true;
}

bool json_check::open(bool object) {
    if (depth_ == deepest_nesting) return wrong("nested deeper than 256 levels");
    is_object_[depth_++] = object;
    expect_ = object ? expected::key_or_end : expected::value_or_end;
    return true;
}

bool json_check::close(bool object) {
    if (is_object_[depth_ - 1] != object) return wrong("the wrong bracket");
    --depth_;
    end_value();
    return true;
}

void json_check::end_value() { expect_ = depth_ == 0 ? expected::nothing : expected::comma_or_end; }

}  // namespace coroscope::analysis::inline text
