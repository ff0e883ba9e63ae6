// SPDX-License-Identifier: Apache-2.0
#include "row_sums.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "../answer/scope_states.hpp"
#include "../answer/whole_calls.hpp"

namespace coroscope::analysis::inline streamed {

bool row_sums::begins_before(const row_sums& other) const {
    if (first_start_ns != other.first_start_ns) return first_start_ns < other.first_start_ns;
    if (first_end_ns != other.first_end_ns) return first_end_ns > other.first_end_ns;
    if (first_stream != other.first_stream) return first_stream < other.first_stream;
    return first_place < other.first_place;
}

void row_sums::add(const row_sums& added) {
    if (added.count == 0) return;
    if (count == 0) {
        *this = added;
        return;
    }
    if (added.begins_before(*this)) {
        first_start_ns = added.first_start_ns;
        first_end_ns = added.first_end_ns;
        first_stream = added.first_stream;
        first_place = added.first_place;
        site_id = added.site_id;
        has_parent = added.has_parent;
        parent_unknown = added.parent_unknown;
    }
    if (has_whole_calls(added)) take_lengths(*this, added.min_wall_ns, added.max_wall_ns);
    count += added.count;
    partial_count += added.partial_count;
    for (const auto part : {&row_sums::wall_ns, &row_sums::running_ns, &row_sums::suspended_ns,
                            &row_sums::queued_ns, &row_sums::waiting_ns, &row_sums::self_ns})
        add_to(this->*part, added.*part);
    states.add(added.states);
    self_states.add(added.self_states);
}

site_rows::site_rows(const loaded_streams& streams, average_key key)
    : metadata_(streams.names), loaded_(streams.loaded) {
    std::map<std::tuple<std::uint32_t, std::string_view, std::string_view, std::uint32_t>,
             std::uint32_t>
        known;
    for (std::uint32_t site = 0; site < loaded_.sites.size(); ++site) {
        const site_info& info = loaded_.sites[site];
        const std::uint32_t name = metadata_.site_name(site);
        const bool by_line = key == average_key::source_line;
        const auto [place, is_new] =
            known.try_emplace({name, info.category, by_line ? info.file : std::string_view(),
                               by_line ? info.line : 0},
                              static_cast<std::uint32_t>(names_.size()));
        if (is_new) names_.push_back(name);
        rows_.push_back(place->second);
    }
    constexpr std::uint32_t small_ids = 1U << 14;
    direct_.resize(small_ids);
    for (std::uint32_t id = 0; id < small_ids; ++id) direct_[id] = find(id);
}

std::uint32_t site_rows::find(std::uint32_t id) const {
    const std::uint32_t site = metadata_.known_site(id);
    return site < rows_.size() ? rows_[site] : none;
}

std::vector<function_event_avg> site_rows::averages(const std::vector<row_sums>& sums) const {
    std::vector<std::uint32_t> order;
    for (std::uint32_t row = 0; row < sums.size(); ++row)
        if (sums[row].count != 0) order.push_back(row);
    std::ranges::sort(order, [&sums](std::uint32_t left, std::uint32_t right) {
        return sums[left].begins_before(sums[right]);
    });
    std::vector<function_event_avg> rows;
    for (const std::uint32_t at : order) {
        const row_sums& sum = sums[at];
        function_event_avg& row = rows.emplace_back();
        row.name = loaded_.strings[names_[at]];
        row.site = metadata_.known_site(sum.site_id);
        row.category = loaded_.sites[row.site].category;
        row.has_parent = sum.has_parent;
        row.count = sum.count;
        row.partial_count = sum.partial_count;
        row.wall_ns = sum.wall_ns;
        row.cpu_time_total_ns = sum.running_ns;
        row.self_cpu_time_total_ns = sum.self_ns;
        row.suspended_ns = sum.suspended_ns;
        row.queued_ns = sum.queued_ns;
        row.waiting_ns = sum.waiting_ns;
        row.min_wall_ns = sum.min_wall_ns;
        row.max_wall_ns = sum.max_wall_ns;
        if (!loaded_.states.any()) continue;
        row.states = settled(sum.states, row.cpu_time_total_ns);
        row.self_states = settled(sum.self_states, row.self_cpu_time_total_ns);
    }
    return rows;
}

}  // namespace coroscope::analysis::inline streamed
