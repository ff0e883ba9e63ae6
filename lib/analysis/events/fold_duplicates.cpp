// SPDX-License-Identifier: Apache-2.0
#include "fold_duplicates.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace coroscope::analysis::inline events {

// Parents come before their children, and taking over a child's children changes nothing for rows
// above. So one pass has the same result as repeating the rule until nothing changes.
std::vector<std::uint32_t> fold_duplicates(event_list& list) {
    std::vector<std::uint32_t> kept_as(list.rows.size());
    std::iota(kept_as.begin(), kept_as.end(), std::uint32_t{0});
    if (list.every_event_nests) return kept_as;
    std::vector<std::uint32_t> children(list.rows.size());
    for (const event_row& row : list.rows)
        if (row.parent != none) ++children[row.parent];
    for (std::uint32_t at = 0; at < list.rows.size(); ++at) {
        event_row& row = list.rows[at];
        if (row.parent == none) continue;
        row.parent = kept_as[row.parent];
        if (children[row.parent] != 1 || list.rows[row.parent].name != row.name) continue;
        kept_as[at] = row.parent;
        children[row.parent] = children[at];
    }
    return kept_as;
}

std::uint64_t count_folded(const std::vector<std::uint32_t>& kept_as) {
    std::uint64_t folded = 0;
    for (std::uint32_t at = 0; at < kept_as.size(); ++at) folded += kept_as[at] != at ? 1 : 0;
    return folded;
}

void drop_folded(event_list& list, const std::vector<std::uint32_t>& kept_as) {
    std::vector<std::uint32_t> new_index(list.rows.size(), none);
    std::uint32_t kept = 0;
    for (std::uint32_t at = 0; at < list.rows.size(); ++at) {
        if (kept_as[at] != at) continue;
        new_index[at] = kept;
        list.rows[kept++] = list.rows[at];
    }
    if (kept == list.rows.size()) return;
    list.rows.resize(kept);
    for (event_row& row : list.rows)
        if (row.parent != none) row.parent = new_index[row.parent];
}

}  // namespace coroscope::analysis::inline events
