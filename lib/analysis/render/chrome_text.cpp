// SPDX-License-Identifier: Apache-2.0
#include "chrome_text.hpp"

#include <algorithm>
#include <cstddef>

#include <coroscope/trace/format.hpp>

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
    std::string out = ",";
    out += member("cat", category.empty() ? std::string_view("scope") : category);
    return out;
}

std::string at_member(const site_info& site) {
    if (site.file.empty()) return {};
    return member("at", site.file + ":" + std::to_string(site.line));
}

/// "file.cpp:12": in a viewer there is no room for the folders, and they are in the arguments.
std::string short_place(const site_info& site) {
    if (site.file.empty()) return {};
    const std::size_t folders = site.file.rfind('/') + 1;  // 0 where there are none
    return place(std::string_view(site.file).substr(folders), site.line);
}

std::string await_of(std::string_view what) {
    std::string name = "await";
    if (!what.empty()) name.append(" ").append(what);
    return name;
}

/// By its label or its operation's name. A function, where it has no other, is the one that awaits.
std::string await_at(const site_info& site) {
    if (!site.label.empty()) return await_of(site.label);
    const std::string where = short_place(site);
    return where.empty() ? await_of(site.function) : "await at " + where;
}

/// Whether somebody named the await. An operation ("co_spawn") says less than the task behind it.
bool has_own_label(const site_info* site) {
    constexpr auto operation = static_cast<std::uint8_t>(coroscope::trace::site_kind::operation);
    return site != nullptr && site->kind != operation && !site->label.empty();
}

}  // namespace

chrome_text::chrome_text(const trace& from)
    : from_(from), event_names_(from.strings.size()), await_event_names_(from.strings.size()) {
    sites_.reserve(from.sites.size() + 1);
    for (const site_info& site : from.sites) {
        sites_.push_back({name_member(name_of(site)), name_member(await_of(name_of(site))),
                          name_member(await_at(site)), category_member(site.category),
                          at_member(site)});
    }
    const std::string await = name_member(await_of({}));
    sites_.push_back({name_member({}), await, await, category_member({}), {}});
}

std::string_view chrome_text::event_name(std::uint32_t string) {
    if (string >= event_names_.size()) return sites_.back().name;
    std::string& text = event_names_[string];
    if (text.empty()) text = name_member(from_.strings[string]);
    return text;
}

std::string_view chrome_text::await_event_name(std::uint32_t string) {
    if (string >= await_event_names_.size()) return sites_.back().await;
    std::string& text = await_event_names_[string];
    if (text.empty()) text = name_member(await_of(from_.strings[string]));
    return text;
}

std::string_view chrome_text::await_name(std::uint32_t site, std::uint32_t awaited_site) const {
    if (awaited_site < from_.sites.size() && !has_own_label(find_site(from_, site)))
        return find(awaited_site).awaited;
    return find(site).await;
}

std::string chrome_text::lane_name(std::uint32_t site) const {
    if (site >= from_.sites.size()) return "tasks of unknown origin";
    const site_info& found = from_.sites[site];
    std::string name(name_of(found));
    if (name.empty()) name = "(unnamed)";
    const std::string where = short_place(found);
    return where.empty() ? name : name.append(" (").append(where).append(")");
}

std::string_view chrome_text::site_name(std::uint32_t site) const { return find(site).name; }

std::string_view chrome_text::category(std::uint32_t site) const { return find(site).category; }

std::string_view chrome_text::at(std::uint32_t site) const { return find(site).at; }

const chrome_text::site_text& chrome_text::find(std::uint32_t site) const {
    return sites_[std::min<std::size_t>(site, sites_.size() - 1)];
}

}  // namespace coroscope::analysis::render
