// SPDX-License-Identifier: Apache-2.0
#include "json_text.hpp"

#include <algorithm>

#include "../read/json_check.hpp"
#include "../render/utf8.hpp"

namespace coroscope::analysis::exporting {
namespace {

bool is_json(std::string_view text) {
    if (!text.starts_with('[') && !text.starts_with('{')) return false;
    reading::json_check check;
    return check.feed(text.data(), text.size()) == text.size() && check.done() &&
           check.problem() == nullptr;
}

bool is_number(std::string_view text) {
    constexpr std::size_t longest = 18;  // of which every number fits into 64 bits
    if (text.starts_with('-')) text.remove_prefix(1);
    if (text.empty() || text.size() > longest) return false;
    if (text.front() == '0' && text.size() > 1) return false;
    return std::all_of(text.begin(), text.end(),
                       [](char each) { return each >= '0' && each <= '9'; });
}

}  // namespace

void append_json(std::string& out, std::string_view text) {
    if (is_json(text))
        out += text;
    else
        render::append_json_string(out, text);
}

void append_id(std::string& out, std::string_view text) {
    if (is_number(text))
        out += text;
    else
        render::append_json_string(out, text);
}

}  // namespace coroscope::analysis::exporting
