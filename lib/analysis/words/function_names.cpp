// SPDX-License-Identifier: Apache-2.0
#include "function_names.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <coroscope/trace/format.hpp>

namespace coroscope::analysis::inline words {
namespace {

using coroscope::trace::site_kind;

bool is_function(const site_info& site) {
    return site.kind == static_cast<std::uint8_t>(site_kind::function);
}

/// Returns the site's label or, without one, its function.
std::string_view shown_name(const site_info& site) {
    return site.label.empty() ? site.function : site.label;
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Returns the place of a site. There are three forms, each more exact than the one before.
constexpr int exactness_levels = 3;
std::string place(const site_info& site, int exactness) {
    std::string text(exactness == 0 ? file_name(site.file) : std::string_view(site.file));
    text.append(":").append(std::to_string(site.line));
    if (exactness == 2) text.append(":").append(std::to_string(site.column));
    return text;
}

using same_label = std::vector<std::size_t>;  // indices of sites

/// Returns whether different places in the source have different texts at this exactness.
bool tells_apart(std::span<const site_info> sites, const same_label& group, int exactness) {
    std::map<std::string, std::tuple<std::string_view, std::uint32_t, std::uint16_t>> places;
    return std::ranges::all_of(group, [&](std::size_t at) {
        const site_info& site = sites[at];
        const std::tuple exact(std::string_view(site.file), site.line, site.column);
        return places.emplace(place(site, exactness), exact).first->second == exact;
    });
}

bool is_one_place(std::span<const site_info> sites, const same_label& group) {
    return std::ranges::all_of(group, [&](std::size_t at) {
        const site_info& first = sites[group.front()];
        const site_info& site = sites[at];
        return std::tie(site.file, site.line, site.column) ==
               std::tie(first.file, first.line, first.column);
    });
}

}  // namespace

std::vector<std::string> distinct_function_names(std::span<const site_info> sites) {
    std::map<std::pair<std::string_view, std::string_view>, same_label> groups;
    for (std::size_t at = 0; at < sites.size(); ++at)
        if (is_function(sites[at]) && !sites[at].file.empty())
            groups[{shown_name(sites[at]), sites[at].category}].push_back(at);
    std::vector<std::string> names(sites.size());
    for (const auto& [key, group] : groups) {
        if (is_one_place(sites, group)) continue;
        int exactness = 0;
        while (exactness + 1 < exactness_levels && !tells_apart(sites, group, exactness))
            ++exactness;
        for (const std::size_t at : group)
            names[at] = std::string(shown_name(sites[at]))
                            .append(" (")
                            .append(place(sites[at], exactness))
                            .append(")");
    }
    return names;
}

namespace {

constexpr std::string_view unlabelled_await = "co_await in ";

bool is_named_after_function(const site_info& site) {
    switch (static_cast<site_kind>(site.kind)) {
        case site_kind::function:
        case site_kind::coroutine:
        case site_kind::job: return true;
        case site_kind::await: return site.label.starts_with(unlabelled_await);
        case site_kind::scope:
        case site_kind::operation:
        case site_kind::resource:
        case site_kind::request:
        case site_kind::value: break;
    }
    return false;
}

/// A list of template arguments, by the positions of its brackets.
struct argument_list {
    std::size_t open;
    std::size_t close;
    std::size_t depth;
};

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Returns whether the character belongs to an operator's name such as "operator<" or "operator->",
/// so that it is not a bracket.
bool is_in_operator(std::string_view name, std::size_t at) {
    while (at != 0 && std::string_view("<>=-").find(name[at - 1]) != std::string_view::npos) --at;
    return name.substr(0, at).ends_with("operator");
}

std::vector<argument_list> argument_lists(std::string_view name) {
    std::vector<argument_list> found;
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < name.size(); ++at) {
        if (name[at] == '\'') {  // a character literal
            at = name.find('\'', at + (at + 1 < name.size() && name[at + 1] == '\\' ? 3 : 2));
            if (at == std::string_view::npos) break;
        } else if (name[at] == '<' && at != 0 && is_word(name[at - 1]) &&
                   !is_in_operator(name, at)) {
            open.push_back(at);
        } else if (name[at] == '>' && !open.empty() && name[at - 1] != '-' &&
                   !is_in_operator(name, at)) {
            found.push_back({open.back(), at, open.size()});
            open.pop_back();
        }
    }
    for (; !open.empty(); open.pop_back())  // the name was cut
        found.push_back({open.back(), name.size(), open.size()});
    return found;
}

std::string without_lists(std::string_view name, const std::vector<argument_list>& lists,
                          std::size_t depth) {
    std::string shortened;
    for (std::size_t at = 0; at < name.size(); ++at) {
        shortened += name[at];
        const auto left_out = std::ranges::find_if(lists, [&](const argument_list& list) {
            return list.open == at && list.depth == depth;
        });
        if (left_out == lists.end()) continue;
        shortened += "…";
        at = left_out->close - 1;
    }
    return shortened;
}

/// Returns a name and its shorter forms, the longest first.
std::vector<std::string> shorter_forms(const std::string& name) {
    std::vector<std::string> forms{name};
    const std::vector<argument_list> lists = argument_lists(name);
    std::size_t deepest = 0;
    for (const argument_list& list : lists) deepest = std::max(deepest, list.depth);
    for (std::size_t depth = deepest; depth != 0 && forms.back().size() > longest_function_name;
         --depth)
        forms.push_back(without_lists(name, lists, depth));
    return forms;
}

/// Returns for each name its shortest form that no other name has.
std::map<std::string, std::string> distinct_forms(const std::set<std::string>& names) {
    std::map<std::string, std::vector<std::string>> forms;
    for (const std::string& name : names) forms.emplace(name, shorter_forms(name));
    for (;;) {
        std::map<std::string_view, int> met;
        for (const auto& [name, left] : forms) ++met[left.back()];
        std::vector<std::vector<std::string>*> taken;
        for (auto& [name, left] : forms)
            if (left.size() > 1 && met[left.back()] > 1) taken.push_back(&left);
        if (taken.empty()) break;
        for (std::vector<std::string>* left : taken) left->pop_back();
    }
    std::map<std::string, std::string> chosen;
    for (auto& [name, left] : forms) chosen.emplace(name, std::move(left.back()));
    return chosen;
}

}  // namespace

void shorten_function_names(std::span<site_info> sites) {
    std::set<std::string> names;
    bool any_long = false;
    for (const site_info& site : sites) {
        if (!is_named_after_function(site)) continue;
        names.insert(site.label);
        any_long = any_long || site.label.size() > longest_function_name;
    }
    if (!any_long) return;
    const std::map<std::string, std::string> chosen = distinct_forms(names);
    for (site_info& site : sites)
        if (is_named_after_function(site)) site.label = chosen.at(site.label);
}

}  // namespace coroscope::analysis::inline words
