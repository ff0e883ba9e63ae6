// SPDX-License-Identifier: Apache-2.0
#include "chrome_text.hpp"

#include <algorithm>
#include <cstddef>

#include "places.hpp"
#include "utf8.hpp"

namespace coroscope::analysis::render {
namespace {

std::string member(std::string_view key, std::string_view text) {
    std::string out;
    append_json_string(out, key);
    out += ':';
    append_json_string(out, text);
    return out;
}

std::string name_member(std::string_view name) {
    return member("name", name.empty() ? std::string_view("(unnamed)") : name);
}

std::string category_member(std::string_view category) {
    return "," + member("cat", category.empty() ? std::string_view("scope") : category);
}

std::string at_member(const site_info& site) {
    if (site.file.empty()) return {};
    return member("at", site.file + ":" + std::to_string(site.line));
}

}  // namespace

chrome_text::chrome_text(const trace& from) : from_(from), event_names_(from.strings.size()) {
    sites_.reserve(from.sites.size() + 1);
    for (const site_info& site : from.sites) {
        sites_.push_back(
            {name_member(name_of(site)), category_member(site.category), at_member(site)});
    }
    sites_.push_back({name_member({}), category_member({}), {}});
}

std::string_view chrome_text::event_name(std::uint32_t string) {
    if (string >= event_names_.size()) return sites_.back().name;
    std::string& text = event_names_[string];
    if (text.empty()) text = name_member(from_.strings[string]);
    return text;
}

std::string_view chrome_text::site_name(std::uint32_t site) const { return find(site).name; }

std::string_view chrome_text::category(std::uint32_t site) const { return find(site).category; }

std::string_view chrome_text::at(std::uint32_t site) const { return find(site).at; }

const chrome_text::site_text& chrome_text::find(std::uint32_t site) const {
    return sites_[std::min<std::size_t>(site, sites_.size() - 1)];
}

}  // namespace coroscope::analysis::render
