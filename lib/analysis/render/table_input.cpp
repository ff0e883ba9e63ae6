// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/table.hpp>

#include <set>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "places.hpp"

namespace coroscope::analysis {
namespace {

/// What the averages of `key` tell apart, without the copies.
using row_key = std::tuple<std::string_view, std::string_view, std::string_view, std::uint32_t>;

row_key key_of(std::string_view name, std::string_view category, const site_info* site,
               average_key key) {
    if (key != average_key::source_line || site == nullptr) return {name, category, {}, 0};
    return {name, category, site->file, site->line};
}

/// Keys whose first event has a parent, which is torch's rule for averages.
std::set<row_key> inner_keys(const trace& loaded, average_key key) {
    std::set<row_key> inner;
    std::set<row_key> seen;
    std::unordered_set<std::uint64_t> seen_pairs;  // spares most events the look at their strings
    for (const event& each : loaded.events) {
        if (!seen_pairs.insert((std::uint64_t{each.name} << 32U) | each.site).second) continue;
        if (each.name >= loaded.strings.size()) continue;
        const site_info* site = render::find_site(loaded, each.site);
        const std::string_view category =
            site ? std::string_view(site->category) : std::string_view();
        const row_key found = key_of(loaded.strings[each.name], category, site, key);
        if (seen.insert(found).second && each.parent != none) inner.insert(found);
    }
    return inner;
}

void drop_inner(table_input& input, const trace& loaded, average_key key) {
    const std::set<row_key> inner = inner_keys(loaded, key);
    std::erase_if(input.rows, [&](const event_average& row) {
        return inner.contains(
            key_of(row.name, row.category, render::find_site(loaded, row.site), key));
    });
}

void name_values(table_input& input, const trace& loaded, std::string_view attribute) {
    input.attribute = attribute;
    for (const event_average& row : input.rows)
        input.attribute_values.push_back(
            row.attribute < loaded.strings.size() ? loaded.strings[row.attribute] : std::string());
}

}  // namespace

table_input table_of(const trace& loaded, average_key key, bool top_level_only,
                     std::string_view attribute) {
    table_input input;
    input.rows = key_averages(loaded, key, attribute);
    input.self_running_total_ns = total_average(loaded).self_running_ns;
    input.has_tasks = !loaded.tasks.empty();
    input.health = loaded.health;
    if (top_level_only) drop_inner(input, loaded, key);
    if (key == average_key::attribute) name_values(input, loaded, attribute);
    if (key != average_key::source_line) return input;
    for (const event_average& row : input.rows) {
        const site_info* site = render::find_site(loaded, row.site);
        input.places.push_back(site ? render::place_of(*site) : std::string());
    }
    return input;
}

}  // namespace coroscope::analysis
