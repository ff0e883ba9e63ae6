// SPDX-License-Identifier: Apache-2.0
#include "event_order.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace coroscope::analysis::inline scopes {
namespace {

struct extent {
    std::int64_t start_ns;
    std::int64_t end_ns;
    std::uint32_t position;
};

template <class Scope>
bool comes_before(const Scope& left, const Scope& right) {
    if (left.start_ns != right.start_ns) return left.start_ns < right.start_ns;
    if (left.end_ns != right.end_ns) return left.end_ns > right.end_ns;
    return left.position > right.position;
}

void sort_by_extent(std::vector<std::uint32_t>& positions, stack_decoder& decoder) {
    std::vector<extent> extents;
    extents.reserve(positions.size());
    for (const std::uint32_t position : positions) {
        extents.push_back({decoder.start_ns(position), decoder.end_ns(position), position});
    }
    std::sort(extents.begin(), extents.end(), comes_before<extent>);
    for (std::size_t index = 0; index < extents.size(); ++index)
        positions[index] = extents[index].position;
}

// A stream of nested scopes, read backwards, gives parents before children and the last sibling
// first. Each scope stays on a stack while scopes that start no earlier than it may still come. A
// scope that is taken from the stack is the last in order of all that are left. So the order is
// written from its end. It never overtakes the reading, which uses the same array.
class nested_order {
public:
    nested_order(std::vector<std::uint32_t>& positions, stack_decoder& decoder)
        : positions_(positions), decoder_(decoder), free_(positions.size()) {}

    // Returns false if scopes overlap without nesting; the positions are then in no order.
    bool run() {
        for (std::size_t index = positions_.size(); index-- > 0;) {
            const std::uint32_t position = positions_[index];
            const std::int64_t start_ns = decoder_.start_ns(position);
            while (!waiting_.empty() && waiting_.back().start_ns > start_ns) place_last();
            waiting_.push_back({start_ns, position});
        }
        while (!waiting_.empty()) place_last();
        return in_order_;
    }

private:
    struct waiting_scope {
        std::int64_t start_ns;
        std::uint32_t position;
    };

    void place_last() {
        const waiting_scope placed = waiting_.back();
        waiting_.pop_back();
        if (placed.start_ns >= placed_before_ns_) [[unlikely]]
            in_order_ = in_order_ && fits(placed);
        placed_before_ns_ = placed.start_ns;
        positions_[--free_] = placed.position;
    }

    [[nodiscard]] bool fits(const waiting_scope& placed) {
        if (free_ == positions_.size()) return true;
        const std::uint32_t next = positions_[free_];
        const extent left{placed.start_ns, decoder_.end_ns(placed.position), placed.position};
        const extent right{placed_before_ns_, decoder_.end_ns(next), next};
        return comes_before(left, right);
    }

    std::vector<std::uint32_t>& positions_;
    stack_decoder& decoder_;
    std::vector<waiting_scope> waiting_;
    std::size_t free_;
    std::int64_t placed_before_ns_ = 0;
    bool in_order_ = true;
};

}  // namespace

void put_in_order(std::vector<std::uint32_t>& positions, stack_decoder decoder) {
    if (!nested_order(positions, decoder).run()) sort_by_extent(positions, decoder);
}

void put_in_order(std::vector<other_scope>& scopes) {
    std::sort(scopes.begin(), scopes.end(), comes_before<other_scope>);
}

}  // namespace coroscope::analysis::inline scopes
