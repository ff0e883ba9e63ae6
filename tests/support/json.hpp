// SPDX-License-Identifier: Apache-2.0
#pragma once

// A strict JSON parser for tests. It refuses text that RFC 8259 forbids and text that is not UTF-8,
// and shares no code with the writers that it checks.

#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace coroscope_tests {

struct json {
    enum class kind { null, boolean, number, string, array, object };
    kind is = kind::null;
    bool boolean = false;
    std::string text;  ///< a string's characters, a number's digits as written
    std::vector<json> elements;
    std::map<std::string, json> members;

    [[nodiscard]] bool has(const std::string& key) const { return members.count(key) != 0; }
    const json& operator[](const std::string& key) const {
        const auto found = members.find(key);
        if (found == members.end()) throw std::runtime_error("no member " + key);
        return found->second;
    }
    const json& operator[](std::size_t index) const { return elements.at(index); }
    [[nodiscard]] long long integer() const { return std::stoll(text); }

    /// Nanoseconds of a decimal number of microseconds with three decimals or more, rounded.
    [[nodiscard]] long long nanoseconds() const {
        const std::size_t point = text.find('.');
        if (point == std::string::npos || text.size() - point < 4)
            throw std::runtime_error("not three decimals: " + text);
        const bool up = text.size() - point > 4 && text[point + 4] >= '5';
        return std::stoll(text.substr(0, point) + text.substr(point + 1, 3)) + (up ? 1 : 0);
    }
};

class json_parser {
public:
    explicit json_parser(std::string_view text) : text_(text) {}

    json document() {
        json value = any();
        space();
        if (at_ != text_.size()) fail("text behind the value");
        return value;
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error("byte " + std::to_string(at_) + ": " + what);
    }
    [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void space() {
        while (at_ < text_.size() &&
               std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
            ++at_;
    }
    void expect(std::string_view word) {
        if (text_.substr(at_, word.size()) != word) fail("expected " + std::string(word));
        at_ += word.size();
    }

    json any() {
        space();
        json value;
        switch (peek()) {
            case '{': return object();
            case '[': return array();
            case '"':
                value.is = json::kind::string;
                value.text = string();
                return value;
            case 't':
                expect("true");
                value.is = json::kind::boolean;
                value.boolean = true;
                return value;
            case 'f':
                expect("false");
                value.is = json::kind::boolean;
                return value;
            case 'n': expect("null"); return value;
            default: return number();
        }
    }

    json object() {
        json value;
        value.is = json::kind::object;
        expect("{");
        for (space(); peek() != '}'; space()) {
            if (!value.members.empty()) {
                expect(",");
                space();
            }
            const std::string key = string();
            space();
            expect(":");
            if (!value.members.emplace(key, any()).second) fail("twice the same key " + key);
        }
        expect("}");
        return value;
    }

    json array() {
        json value;
        value.is = json::kind::array;
        expect("[");
        for (space(); peek() != ']'; space()) {
            if (!value.elements.empty()) expect(",");
            value.elements.push_back(any());
        }
        expect("]");
        return value;
    }

    json number() {
        json value;
        value.is = json::kind::number;
        const std::size_t from = at_;
        if (peek() == '-') ++at_;
        const std::size_t first = at_;
        digits();
        if (text_[first] == '0' && at_ - first > 1) fail("a leading zero");
        if (peek() == '.') {
            ++at_;
            digits();
        }
        if (peek() == 'e' || peek() == 'E') {
            ++at_;
            if (peek() == '+' || peek() == '-') ++at_;
            digits();
        }
        value.text = text_.substr(from, at_ - from);
        return value;
    }
    void digits() {
        const std::size_t from = at_;
        while (std::isdigit(static_cast<unsigned char>(peek())) != 0) ++at_;
        if (from == at_) fail("expected a digit");
    }

    std::string string() {
        expect("\"");
        std::string out;
        while (peek() != '"') {
            if (at_ >= text_.size()) fail("an open string");
            if (static_cast<unsigned char>(peek()) < 0x20) fail("a bare control character");
            if (peek() == '\\')
                escape(out);
            else
                character(out);
        }
        expect("\"");
        return out;
    }

    void escape(std::string& out) {
        constexpr std::string_view letters = "\"\\/bfnrt";
        constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        ++at_;
        const std::size_t which = letters.find(peek());
        if (peek() == 'u') {
            const std::string digits(text_.substr(at_ + 1, 4));
            if (digits.size() != 4 ||
                digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
                fail("escape");
            const auto code = static_cast<unsigned>(std::stoul(digits, nullptr, 16));
            if (code >= 0xA0) fail("an escape this writer never makes");
            if (code >= 0x80) out += '\xC2';  // a control character of two bytes
            out += static_cast<char>(code);
            at_ += 5;
        } else if (which == std::string_view::npos || peek() == '\0') {
            fail("escape");
        } else {
            out += meanings[which];
            ++at_;
        }
    }

    /// One character of UTF-8, by its range as the Unicode standard's table 3-7 gives it.
    void character(std::string& out) {
        const auto byte = [this](std::size_t offset) {
            return at_ + offset < text_.size() ? static_cast<unsigned char>(text_[at_ + offset])
                                               : 0U;
        };
        const unsigned first = byte(0);
        std::size_t length = 1;
        unsigned long code = first;
        if (first >= 0xF0) {
            length = 4;
            code = first & 0x07U;
        } else if (first >= 0xE0) {
            length = 3;
            code = first & 0x0FU;
        } else if (first >= 0xC0) {
            length = 2;
            code = first & 0x1FU;
        } else if (first >= 0x80)
            fail("not UTF-8");
        for (std::size_t at = 1; at < length; ++at) {
            if ((byte(at) & 0xC0U) != 0x80U) fail("not UTF-8");
            code = code << 6U | (byte(at) & 0x3FU);
        }
        constexpr unsigned long least[] = {0, 0, 0x80, 0x800, 0x10000};
        if (code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
            fail("not UTF-8");
        out += text_.substr(at_, length);
        at_ += length;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

/// The document. Throws an exception with the byte of the first error.
inline json parse_json(std::string_view text) { return json_parser(text).document(); }

}  // namespace coroscope_tests
