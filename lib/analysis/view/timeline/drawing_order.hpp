// SPDX-License-Identifier: Apache-2.0
#pragma once

// Walks one vector of the model by (start ascending, end descending). A vector in that order, as
// almost all of the model's are, costs no memory.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "drawing_lanes.hpp"

namespace coroscope::analysis::inline timelines {

[[nodiscard]] inline bool goes_before(const span& left, const span& right) noexcept {
    return left.start_ns != right.start_ns ? left.start_ns < right.start_ns
                                           : left.end_ns > right.end_ns;
}

template <class SpanOf>
class ordered_spans {
public:
    /// `span_of(index)` gives the span of each of `count` elements. Equals keep their order.
    ordered_spans(std::size_t count, SpanOf span_of)
        : count_(static_cast<std::uint32_t>(count)), span_of_(std::move(span_of)) {
        if (!in_order()) sort();
        look();
    }

    [[nodiscard]] bool done() const noexcept { return at_ == count_; }

    /// Returns the next span. Precondition: !done().
    [[nodiscard]] const span& front() const noexcept { return front_; }

    /// Removes the next element and returns its index. Precondition: !done().
    std::uint32_t pop() {
        const std::uint32_t taken = index(at_++);
        look();
        return taken;
    }

private:
    [[nodiscard]] std::uint32_t index(std::uint32_t at) const {
        return order_.empty() ? at : order_[at];
    }

    void look() {
        if (!done()) front_ = span_of_(index(at_));
    }

    [[nodiscard]] bool in_order() const {
        for (std::uint32_t at = 1; at < count_; ++at) {
            if (goes_before(span_of_(at), span_of_(at - 1))) return false;
        }
        return true;
    }

    void sort() {
        order_.resize(count_);
        std::iota(order_.begin(), order_.end(), 0U);
        std::sort(order_.begin(), order_.end(), [this](std::uint32_t left, std::uint32_t right) {
            const span one = span_of_(left);
            const span other = span_of_(right);
            return goes_before(one, other) || (!goes_before(other, one) && left < right);
        });
    }

    std::uint32_t count_;
    std::uint32_t at_ = 0;
    SpanOf span_of_;
    span front_{};
    std::vector<std::uint32_t> order_;
};

}  // namespace coroscope::analysis::inline timelines
