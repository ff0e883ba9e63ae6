// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sets of moments, as spans of time that do not overlap.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace coroscope::analysis::inline answers {

struct time_span {
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;
    bool operator==(const time_span&) const = default;
};

/// By start, without overlaps.
using time_spans = std::vector<time_span>;

/// Adds a span that begins with or after the last one. Returns the length that it adds.
inline std::int64_t append_span(time_spans& to, time_span added) {
    if (!to.empty()) added.from_ns = std::max(added.from_ns, to.back().to_ns);
    if (added.to_ns <= added.from_ns) return 0;
    if (!to.empty() && to.back().to_ns == added.from_ns)
        to.back().to_ns = added.to_ns;
    else
        to.push_back(added);
    return added.to_ns - added.from_ns;
}

/// Returns the union of spans in any order.
inline time_spans united(time_spans spans) {
    std::ranges::sort(spans, {},
                      [](const time_span& each) { return std::pair(each.from_ns, each.to_ns); });
    time_spans sum;
    for (const time_span& each : spans) append_span(sum, each);
    return sum;
}

/// Returns the moments that are in all sets; none if there are no sets.
inline time_spans common(const std::vector<const time_spans*>& sets) {
    std::vector<std::pair<std::int64_t, int>> edges;
    for (const time_spans* set : sets)
        for (const time_span& each : *set) {
            edges.emplace_back(each.from_ns, 1);
            edges.emplace_back(each.to_ns, -1);
        }
    std::ranges::sort(edges);
    time_spans found;
    std::size_t open = 0;
    std::int64_t since_ns = 0;
    for (const auto& [time_ns, step] : edges) {
        if (step < 0 && open-- == sets.size()) append_span(found, {since_ns, time_ns});
        if (step > 0 && ++open == sets.size()) since_ns = time_ns;
    }
    return found;
}

/// Measures the part of a time that lies in a set of moments.
class span_measure {
public:
    explicit span_measure(time_spans spans) : spans_(std::move(spans)) {
        before_.reserve(spans_.size());
        std::int64_t sum_ns = 0;
        for (const time_span& each : spans_) {
            before_.push_back(sum_ns);
            sum_ns += each.to_ns - each.from_ns;
        }
    }

    /// Takes O(log n) steps.
    [[nodiscard]] std::int64_t within(std::int64_t from_ns, std::int64_t to_ns) const {
        return until(to_ns) - until(from_ns);
    }

private:
    [[nodiscard]] std::int64_t until(std::int64_t time_ns) const {
        const auto after = std::ranges::upper_bound(spans_, time_ns, {}, &time_span::from_ns);
        if (after == spans_.begin()) return 0;
        const auto at = static_cast<std::size_t>(after - spans_.begin()) - 1;
        return before_[at] + std::min(time_ns, spans_[at].to_ns) - spans_[at].from_ns;
    }

    time_spans spans_;
    std::vector<std::int64_t> before_;
};

}  // namespace coroscope::analysis::inline answers
