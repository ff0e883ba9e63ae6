// SPDX-License-Identifier: Apache-2.0
#include "drawing_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <coroscope/trace/format.hpp>

#include "../../words/drawn_kinds.hpp"
#include "../../words/places.hpp"

namespace coroscope::analysis::inline timelines {
namespace {

constexpr std::array<std::string_view, word_count> word_texts{
    "queued", "spawn", "wake", "launch", "awaited", "blocked", "preempted"};
constexpr const auto& kind_texts = drawn_kinds;

static_assert(drawn_kinds.size() == kinds_of_bar);

/// The categories of scopes whose category in the program has the name of one of ours.
constexpr std::array<std::string_view, kinds_of_bar + 2> scope_texts{"scope,slice",
                                                                     "scope,task",
                                                                     "scope,await",
                                                                     "scope,queued",
                                                                     "scope,flow",
                                                                     "scope,kernel",
                                                                     "scope,copy",
                                                                     "scope,set",
                                                                     "scope,runtime_call",
                                                                     "scope,driver_call",
                                                                     "scope,synchronization",
                                                                     "scope,overhead",
                                                                     "scope,thread_state",
                                                                     "scope,request_lane",
                                                                     "scope,path_segment",
                                                                     "scope,wait",
                                                                     "scope,scope",
                                                                     "scope,request"};

std::string_view written_category(std::string_view own) {
    const auto* const reserved = std::ranges::find(
        scope_texts, own, [](std::string_view text) { return text.substr(scope_prefix.size()); });
    return reserved == scope_texts.end() ? own : *reserved;
}

std::string named(std::string_view name) {
    return std::string(name.empty() ? std::string_view("(unnamed)") : name);
}

/// Returns "file.cpp:12". The folders are in the arguments, because a viewer has no room for them.
std::string short_place(const site_info& site) {
    if (site.file.empty()) return {};
    const std::size_t folders = site.file.rfind('/') + 1;  // 0 if there are none
    return place(std::string_view(site.file).substr(folders), site.line);
}

std::string await_of(std::string_view what) {
    std::string name = "await";
    if (!what.empty()) name.append(" ").append(what);
    return name;
}

/// Names an await by its label or its operation's name, else by the place of the await.
std::string await_at(const site_info& site) {
    if (!site.label.empty()) return await_of(site.label);
    const std::string where = short_place(site);
    return where.empty() ? await_of(site.function) : "await at " + where;
}

/// Returns whether the await has a label. The name of an operation ("co_spawn") does not count,
/// because the awaited task is more informative.
bool has_own_label(const site_info* site) {
    constexpr auto operation = static_cast<std::uint8_t>(coroscope::trace::site_kind::operation);
    return site != nullptr && site->kind != operation && !site->label.empty();
}

}  // namespace

std::uint32_t drawing_names::of_await(std::uint32_t site, std::uint32_t awaited_site) const {
    if (awaited_site < sites_ && !has_own_label(find_site(from_, site)))
        return of(awaited_site, role::awaited);
    return of(site, role::await);
}

std::string drawing_names::text(std::uint32_t name) const {
    if (name < strings_) return named(from_.strings[name]);
    if (name < 2 * strings_) return await_of(from_.strings[name - strings_]);
    const std::uint32_t behind = name - 2 * strings_;
    if (behind < roles * (sites_ + 1))
        return text_of_site(behind / roles, static_cast<role>(behind % roles));
    return std::string(word_texts[behind - roles * (sites_ + 1)]);
}

std::string drawing_names::text_of_site(std::uint32_t site, role as) const {
    const site_info unknown;
    const site_info& found = site < sites_ ? from_.sites[site] : unknown;
    switch (as) {
        case role::itself: return named(name_of(found));
        case role::awaited: return await_of(name_of(found));
        case role::await: break;
    }
    return await_at(found);
}

bool drawing_names::is_request(std::uint32_t site) const {
    constexpr auto request = static_cast<std::uint8_t>(coroscope::trace::site_kind::request);
    return site < sites_ && from_.sites[site].kind == request;
}

std::string_view drawing_names::category_text(std::uint32_t category) const {
    if (category > sites_) return kind_texts[category - sites_ - 1];
    const bool has_one = category < sites_ && !from_.sites[category].category.empty();
    if (!has_one) return is_request(category) ? request_category : plain_scope;
    return written_category(from_.sites[category].category);
}

std::string drawing_names::place_text(std::uint32_t site) const {
    const site_info& found = from_.sites[site];
    if (found.file.empty()) return {};
    return found.file + ":" + std::to_string(found.line);
}

std::string drawing_names::lane_name(std::uint32_t site) const {
    if (site >= sites_) return "tasks of unknown origin";
    const site_info& found = from_.sites[site];
    const std::string where = short_place(found);
    std::string name = named(name_of(found));
    return where.empty() ? name : name.append(" (").append(where).append(")");
}

}  // namespace coroscope::analysis::inline timelines
