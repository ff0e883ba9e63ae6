// SPDX-License-Identifier: Apache-2.0
#include "event_order.hpp"

#include <algorithm>
#include <numeric>

namespace coroscope::analysis::loading {
namespace {

template <class Scope>
bool comes_before(std::span<const Scope> scopes, std::uint32_t left, std::uint32_t right) {
    const Scope& one = scopes[left];
    const Scope& other = scopes[right];
    if (one.start_ns != other.start_ns) return one.start_ns < other.start_ns;
    if (one.end_ns != other.end_ns) return one.end_ns > other.end_ns;
    return left > right;
}

template <class Scope>
void sort_order(std::span<const Scope> scopes, std::vector<std::uint32_t>& order) {
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [scopes](std::uint32_t left, std::uint32_t right) {
        return comes_before(scopes, left, right);
    });
}

// A stream of nested scopes, read backwards, gives parents before children and the last sibling
// first. Each scope waits on a stack while scopes that start no earlier than it may still come; taken
// from the stack, it is the last in order of all that are left, so the order fills from its end.
// False where the result is not in order, because scopes overlap without nesting.
bool order_nested(std::span<const stack_scope> scopes, std::vector<std::uint32_t>& order) {
    std::vector<std::uint32_t> waiting;
    std::size_t free = order.size();
    bool in_order = true;
    const auto place = [&](std::uint32_t index) {
        if (free < order.size() && !comes_before(scopes, index, order[free])) in_order = false;
        order[--free] = index;
    };
    for (std::size_t index = scopes.size(); index-- > 0;) {
        const std::int64_t start_ns = scopes[index].start_ns;
        while (!waiting.empty() && scopes[waiting.back()].start_ns > start_ns) {
            place(waiting.back());
            waiting.pop_back();
        }
        waiting.push_back(static_cast<std::uint32_t>(index));
    }
    for (; !waiting.empty(); waiting.pop_back()) place(waiting.back());
    return in_order;
}

}  // namespace

std::vector<std::uint32_t> order_of(std::span<const stack_scope> scopes) {
    std::vector<std::uint32_t> order(scopes.size());
    if (!order_nested(scopes, order)) sort_order(scopes, order);
    return order;
}

std::vector<std::uint32_t> order_of(std::span<const long_scope> scopes) {
    std::vector<std::uint32_t> order(scopes.size());
    sort_order(scopes, order);
    return order;
}

}  // namespace coroscope::analysis::loading
