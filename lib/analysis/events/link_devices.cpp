// SPDX-License-Identifier: Apache-2.0
#include "link_devices.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace coroscope::analysis::inline events {
namespace {

bool is_launched(const event_row& row) {
    return row.what == activity::kernel || row.what == activity::gpu_memcpy ||
           row.what == activity::gpu_memset;
}

bool is_operation(const event_row& row) {
    return (row.what == activity::cpu_op || row.what == activity::user_annotation) &&
           row.device == device_kind::cpu && (row.flags & (row_async | row_hidden)) == 0;
}

/// A device event whose CPU event is still to be found, by that event's id.
struct sought {
    std::uint64_t id;
    std::uint32_t row;
};

bool is_before(const sought& left, const sought& right) { return left.id < right.id; }

/// Returns the device events sorted by one of their ids. Leaves out events without that id, and
/// events that have a parent already.
std::vector<sought> seek(const event_list& list, std::uint64_t (*id_of)(const event_row&)) {
    std::vector<sought> wanted;
    for (std::uint32_t at = 0; at < list.rows.size(); ++at) {
        const event_row& row = list.rows[at];
        if (is_launched(row) && row.parent == none && id_of(row) != 0)
            wanted.push_back({id_of(row), at});
    }
    std::sort(wanted.begin(), wanted.end(), [](const sought& left, const sought& right) {
        return left.id != right.id ? left.id < right.id : left.row < right.row;
    });
    return wanted;
}

/// Gives the event `owner` all device events of the id. If the id was claimed before, does nothing:
/// only the first device event is checked, so that many CPU events of one id do not take quadratic
/// time.
void claim(event_list& list, const std::vector<sought>& wanted, std::uint64_t id,
           std::uint32_t owner) {
    auto at = std::lower_bound(wanted.begin(), wanted.end(), sought{id, 0}, is_before);
    if (at == wanted.end() || list.rows[at->row].parent != none) return;
    for (; at != wanted.end() && at->id == id; ++at) list.rows[at->row].parent = owner;
}

void link_by_external_id(event_list& list, const std::vector<std::uint32_t>& kept_as) {
    const auto wanted = seek(list, [](const event_row& row) { return row.external_id; });
    if (wanted.empty()) return;
    for (std::uint32_t at = 0; at < list.rows.size(); ++at) {
        const event_row& row = list.rows[at];
        if (row.external_id != 0 && is_operation(row))
            claim(list, wanted, row.external_id, kept_as[at]);
    }
}

void link_by_correlation(event_list& list, const std::vector<std::uint32_t>& kept_as) {
    const auto wanted =
        seek(list, [](const event_row& row) { return std::uint64_t{row.correlation}; });
    if (wanted.empty()) return;
    for (std::uint32_t at = 0; at < list.rows.size(); ++at) {
        const event_row& row = list.rows[at];
        if (row.what != activity::runtime || row.correlation == 0) continue;
        claim(list, wanted, row.correlation, row.parent != none ? row.parent : kept_as[at]);
    }
}

}  // namespace

void link_devices(event_list& list, const std::vector<std::uint32_t>& kept_as) {
    if (std::none_of(list.rows.begin(), list.rows.end(), is_launched)) return;
    link_by_external_id(list, kept_as);
    link_by_correlation(list, kept_as);
}

}  // namespace coroscope::analysis::inline events
