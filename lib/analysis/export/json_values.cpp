// SPDX-License-Identifier: Apache-2.0
#include "json_values.hpp"

#include <algorithm>

#include "../text/json_check.hpp"
#include "../text/utf8.hpp"

namespace coroscope::analysis::inline exports {
namespace {

bool is_json(std::string_view text) {
    if (!text.starts_with('[') && !text.starts_with('{')) return false;
    json_check check;
    return check.feed(text.data(), text.size()) == text.size() && check.done() &&
           check.problem() == nullptr;
}

bool is_number(std::string_view text) {
    constexpr std::size_t longest = 18;  // every number of 18 digits fits 64 bits
    if (text.starts_with('-')) text.remove_prefix(1);
    if (text.empty() || text.size() > longest) return false;
    if (text.front() == '0' && text.size() > 1) return false;
    return std::all_of(text.begin(), text.end(),
                       [](char each) { return each >= '0' && each <= '9'; });
}

}  // namespace

bool is_object(std::string_view text) { return text.starts_with('{') && is_json(text); }

void append_json(std::string& out, std::string_view text) {
    if (is_json(text))
        out += text;
    else
        append_json_string(out, text);
}

void append_id(std::string& out, std::string_view text) {
    if (is_number(text))
        out += text;
    else
        append_json_string(out, text);
}

}  // namespace coroscope::analysis::inline exports
