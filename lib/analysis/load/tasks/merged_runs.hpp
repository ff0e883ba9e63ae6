// SPDX-License-Identifier: Apache-2.0
#pragma once

// Puts items in order that come in a few ordered runs, as those of each thread do: merges the runs
// without a copy of the items.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace coroscope::analysis::inline tasks {

/// Calls `visit(load(at))` for each `at` less than `count`, in the order of `before(item, item)`.
/// Equal items keep their order. `load` must be cheap: it is called twice for an item.
template <class Load, class Before, class Visit>
void visit_in_order(std::uint32_t count, Load load, Before before, Visit visit) {
    constexpr std::size_t most_runs = 256;  // more are sorted: a merge of many runs is slow
    using item = decltype(load(0));
    struct run {
        std::uint32_t next;
        std::uint32_t end;
        item head;
    };
    std::vector<run> runs;
    item last{};
    for (std::uint32_t at = 0; at < count; ++at) {
        item here = load(at);
        if (at == 0 || before(here, last)) {
            if (at != 0) runs.back().end = at;
            runs.push_back({at + 1, count, here});
        }
        last = std::move(here);
    }
    if (runs.size() > most_runs) {
        std::vector<std::uint32_t> order(count);
        std::iota(order.begin(), order.end(), 0U);
        std::ranges::stable_sort(order, [&](std::uint32_t left, std::uint32_t right) {
            return before(load(left), load(right));
        });
        for (const std::uint32_t at : order) visit(load(at));
        return;
    }
    while (!runs.empty()) {
        auto first = runs.begin();
        for (auto each = first + 1; each < runs.end(); ++each)
            if (before(each->head, first->head)) first = each;
        visit(first->head);
        if (first->next == first->end)
            runs.erase(first);
        else
            first->head = load(first->next++);
    }
}

}  // namespace coroscope::analysis::inline tasks
