// SPDX-License-Identifier: Apache-2.0
#include "recorded_times.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "../../text/json_tokens.hpp"
#include "../../text/number_text.hpp"
#include "../../words/drawn_kinds.hpp"

namespace coroscope::analysis::inline chrome {
namespace {

std::int64_t number_of(std::string_view token, std::int64_t otherwise) {
    return integer<std::int64_t>(token).value_or(otherwise);
}

bool is_given(const chrome_arguments& arguments) {
    return !arguments.running.empty() || !arguments.self.empty() || !arguments.nested.empty() ||
           !arguments.suspension.empty();
}

void hide_or_name(event_list& list, event_row& row) {
    std::string_view category = list.text(row.category);
    row.flags &= static_cast<std::uint16_t>(~unsigned{row_user_annotation});
    const auto* const kinds = drawn_kinds.begin();
    const auto kind = std::find(kinds, drawn_kinds.end(), category) - kinds;
    constexpr std::ptrdiff_t kernel = 5, copy = 6, set = 7;
    if (kind == kernel || kind == copy || kind == set) {
        row.device = device_kind::cuda;
        row.what = kind == kernel ? activity::kernel
                   : kind == copy ? activity::gpu_memcpy
                                  : activity::gpu_memset;
        return;
    }
    row.what = activity::other;
    row.device = device_kind::cpu;
    if (kind < static_cast<std::ptrdiff_t>(drawn_kinds.size())) {
        row.flags |= row_hidden;
        return;
    }
    if (category == plain_scope || category == request_category) category = {};
    if (category.starts_with(scope_prefix)) category.remove_prefix(scope_prefix.size());
    row.category = list.intern(std::string(category));
}

}  // namespace

void recorded_times::take(const chrome_arguments& arguments, std::size_t row) {
    if (!entries_.empty() && entries_.back().row == row) entries_.pop_back();
    if (!is_given(arguments)) return;
    entry& kept = entries_.emplace_back();
    kept.row = row;
    kept.split = {number_of(arguments.running, 0), number_of(arguments.suspended, 0),
                  number_of(arguments.queued, 0), number_of(arguments.waiting, 0)};
    kept.self_ns = number_of(arguments.self, -1);
    kept.nested = arguments.nested == "true";
    kept.unknown = arguments.suspension == "\"unknown\"";
}

void recorded_times::give_to(event_list& list) {
    list.has_recorded_times = true;
    for (event_row& row : list.rows) hide_or_name(list, row);
    for (const entry& each : entries_) {
        if (each.row >= list.rows.size()) continue;
        event_row& row = list.rows[each.row];
        if ((row.flags & row_hidden) != 0 || row.device != device_kind::cpu) continue;
        if (each.nested) row.flags |= row_nested;
        if (each.unknown) row.flags |= row_suspension_unknown;
        event_extra& extra = list.extra_of(row);
        extra.split = each.split;
        if (each.unknown) extra.split = {0, 0, 0, row.end_ns - row.start_ns};
        extra.self_ns = each.self_ns;
    }
    entries_.clear();
}

}  // namespace coroscope::analysis::inline chrome
