// SPDX-License-Identifier: Apache-2.0
#include "page_sink.hpp"

#include "../text/utf8.hpp"

namespace coroscope::analysis::inline pages {
namespace {

constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t base64_part = 65536;

/// Returns whether U+2028 or U+2029 begins there.
bool is_line_separator(std::string_view text, std::size_t at) {
    const std::string_view next = text.substr(at, 3);
    return next == "\xE2\x80\xA8" || next == "\xE2\x80\xA9";
}

}  // namespace

void page_sink::begin_block(std::string_view type, std::string_view id) {
    write("<script type=\"");
    write(type);
    write("\" id=\"");
    write(id);
    write("\">");
}

std::string inert_json(std::string_view json) {
    std::string out;
    out.reserve(json.size());
    for (std::size_t at = 0; at < json.size(); ++at) {
        const char next = json[at];
        if (next == '<') {
            out += "\\u003c";
        } else if (next == '>') {
            out += "\\u003e";
        } else if (next == '&') {
            out += "\\u0026";
        } else if (is_line_separator(json, at)) {
            out += json[at + 2] == '\xA8' ? "\\u2028" : "\\u2029";
            at += 2;
        } else {
            out += next;
        }
    }
    return out;
}

std::string inert_html(std::string_view text) {
    const std::string printed = printable(text);
    std::string out;
    for (std::size_t at = 0; at < printed.size(); ++at) {
        switch (printed[at]) {
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '&': out += "&amp;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            default:
                if (is_line_separator(printed, at)) {
                    out += ' ';
                    at += 2;
                } else {
                    out += printed[at];
                }
        }
    }
    return out;
}

bool base64_sink::write(std::string_view bytes) {
    for (const char next : bytes) {
        held_ = held_ << 8U | static_cast<unsigned char>(next);
        if (++held_bytes_ != 3) continue;
        put(held_, 4);
        held_ = 0;
        held_bytes_ = 0;
        if (out_.size() < base64_part) continue;
        to_.write(out_);
        out_.clear();
    }
    return to_.good();
}

bool base64_sink::finish() {
    if (held_bytes_ != 0) {
        put(held_ << 8 * (3 - held_bytes_), held_bytes_ + 1);
        out_.append(static_cast<std::size_t>(3 - held_bytes_), '=');
    }
    return to_.write(out_);
}

void base64_sink::put(std::uint32_t three_bytes, int characters) {
    for (int digit = 0; digit < characters; ++digit)
        out_ += base64_digits[three_bytes >> 6 * (3 - digit) & 63U];
}

}  // namespace coroscope::analysis::inline pages
