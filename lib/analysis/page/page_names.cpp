// SPDX-License-Identifier: Apache-2.0
#include "page_names.hpp"

#include <algorithm>

#include "../text/utf8.hpp"

namespace coroscope::analysis::inline pages {
namespace {

/// Returns "key=value, key=value", the innermost attribute first. A key below the same key has no
/// effect, and is left out.
std::string text_of_attributes(const trace& from, std::uint32_t attribute) {
    constexpr std::size_t most_attributes = 64;  // in a damaged trace attributes may form a cycle
    std::string text;
    std::vector<std::uint32_t> keys;
    for (std::uint32_t at = attribute; at < from.attributes.size() && keys.size() < most_attributes;
         at = from.attributes[at].parent) {
        const attribute_info& each = from.attributes[at];
        if (!each.unknown && std::ranges::find(keys, each.key) != keys.end()) continue;
        keys.push_back(each.key);
        if (!text.empty()) text += ", ";
        if (each.key < from.strings.size()) text += from.strings[each.key] + '=';
        if (each.value < from.strings.size()) text += from.strings[each.value];
        if (each.unknown) break;
    }
    return text;
}

}  // namespace

std::int64_t page_names::number_of(std::string_view text) {
    const auto [place, is_new] =
        numbers_.try_emplace(std::string(text), static_cast<std::int64_t>(texts_.size()));
    if (is_new) texts_.push_back(&place->first);
    return place->second;
}

std::int64_t page_names::of_attribute(std::uint32_t attribute) {
    if (attribute >= from_.attributes.size()) return -1;
    if (attributes_.empty()) attributes_.resize(from_.attributes.size(), -2);
    std::int64_t& number = attributes_[attribute];
    if (number == -2) number = number_of(text_of_attributes(from_, attribute));
    return number;
}

std::string page_names::json() const {
    std::string out = "[";
    for (const std::string* text : texts_) {
        if (out.size() > 1) out += ',';
        append_json_string(out, *text);
    }
    return out += ']';
}

}  // namespace coroscope::analysis::inline pages
