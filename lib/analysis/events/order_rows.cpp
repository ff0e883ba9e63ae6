// SPDX-License-Identifier: Apache-2.0
#include "order_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace coroscope::analysis::inline events {
namespace {

bool is_before(const event_row& left, const event_row& right) {
    return left.start_ns != right.start_ns ? left.start_ns < right.start_ns
                                           : left.end_ns > right.end_ns;
}

using row_order = std::vector<std::uint32_t>;

/// The beginning of each ascending run of rows, and the end. A trace consists of few runs: one per
/// thread or kind.
std::vector<std::size_t> runs_of(const std::vector<event_row>& rows) {
    std::vector<std::size_t> bounds{0};
    for (std::size_t at = 1; at < rows.size(); ++at)
        if (is_before(rows[at], rows[at - 1])) bounds.push_back(at);
    bounds.push_back(rows.size());
    return bounds;
}

/// Merges neighbouring runs of `from` in pairs into `to`, and returns the bounds of the merged
/// runs.
std::vector<std::size_t> merge_pairs(const std::vector<event_row>& rows, const row_order& from,
                                     row_order& to, const std::vector<std::size_t>& bounds) {
    const auto at = [&from](std::size_t index) {
        return from.begin() + static_cast<std::ptrdiff_t>(index);
    };
    std::vector<std::size_t> left{0};
    for (std::size_t run = 0; run + 1 < bounds.size(); run += 2) {
        const std::size_t middle = bounds[run + 1];
        const std::size_t end = bounds[std::min(run + 2, bounds.size() - 1)];
        std::merge(at(bounds[run]), at(middle), at(middle), at(end),
                   to.begin() + static_cast<std::ptrdiff_t>(bounds[run]),
                   [&rows](std::uint32_t one, std::uint32_t other) {
                       return is_before(rows[one], rows[other]);
                   });
        left.push_back(end);
    }
    return left;
}

row_order sorted(const std::vector<event_row>& rows, std::vector<std::size_t> bounds) {
    row_order order(rows.size());
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    row_order merged(rows.size());
    while (bounds.size() > 2) {
        bounds = merge_pairs(rows, order, merged, bounds);
        order.swap(merged);
    }
    return order;
}

/// Moves the rows to their places in place, along the cycles of the permutation.
void move_rows(std::vector<event_row>& rows, row_order order) {
    for (std::uint32_t first = 0; first < order.size(); ++first) {
        if (order[first] == first) continue;
        const event_row displaced = rows[first];
        std::uint32_t hole = first;
        while (order[hole] != first) {
            const std::uint32_t from = std::exchange(order[hole], hole);
            rows[hole] = rows[from];
            hole = from;
        }
        rows[hole] = displaced;
        order[hole] = hole;
    }
}

}  // namespace

void order_rows(event_list& list) {
    std::vector<std::size_t> runs = runs_of(list.rows);
    if (runs.size() > 2) move_rows(list.rows, sorted(list.rows, std::move(runs)));
}

}  // namespace coroscope::analysis::inline events
