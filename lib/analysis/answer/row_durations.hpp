// SPDX-License-Identifier: Apache-2.0
#pragma once

// The durations of the calls of each row of averages, for their percentiles. All share one list,
// so that each takes eight bytes.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <coroscope/analysis/percentiles.hpp>

namespace coroscope::analysis::inline answers {

class row_durations {
public:
    /// Must be called for each duration before end_count().
    void count(std::size_t row) {
        if (row + 2 > first_.size()) first_.resize(row + 2);
        ++first_[row + 1];
    }
    void end_count() {
        for (std::size_t at = 1; at < first_.size(); ++at) first_[at] += first_[at - 1];
        durations_ns_.resize(first_.empty() ? 0 : first_.back());
        next_ = first_;
    }
    /// Must be called for each counted duration, after end_count().
    void add(std::size_t row, std::int64_t duration_ns) {
        durations_ns_[next_[row]++] = duration_ns;
    }

    /// Must be called after the last add().
    [[nodiscard]] percentiles of(std::size_t row) const {
        if (row + 1 >= first_.size()) return {};
        const auto begin = durations_ns_.begin();
        std::vector<std::int64_t> own(begin + static_cast<std::ptrdiff_t>(first_[row]),
                                      begin + static_cast<std::ptrdiff_t>(first_[row + 1]));
        return percentiles_of(own);
    }

private:
    std::vector<std::size_t> first_;  // by row, and one for the end
    std::vector<std::size_t> next_;
    std::vector<std::int64_t> durations_ns_;
};

}  // namespace coroscope::analysis::inline answers
