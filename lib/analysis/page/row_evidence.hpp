// SPDX-License-Identifier: Apache-2.0
#pragma once

// The evidence of a row of a table: a histogram of its lengths, and its longest moments.

#include <cstdint>
#include <string>
#include <vector>

#include <coroscope/analysis/model.hpp>

#include "length_classes.hpp"

namespace coroscope::analysis::inline pages {

/// A moment in the timeline. The indices may be `none`.
struct evidence_moment {
    std::int64_t start_ns = 0;
    std::int64_t length_ns = 0;
    std::uint32_t task = none;    ///< index into trace::tasks
    std::uint32_t thread = none;  ///< index into trace::threads
};

class row_evidence {
public:
    /// Adds a moment.
    void add(const evidence_moment& moment) {
        lengths_.add(moment.length_ns);
        keep(moment);
    }

    /// Adds a moment that is not one of the lengths.
    void keep(const evidence_moment& moment);

    [[nodiscard]] const length_classes& lengths() const noexcept { return lengths_; }

    /// Returns the longest moments as JSON. Tasks and threads are given by their ids.
    [[nodiscard]] std::string longest_json(const trace& from) const;

private:
    static constexpr std::size_t most_moments = 3;

    length_classes lengths_;
    std::vector<evidence_moment> longest_;  // the longest first
};

}  // namespace coroscope::analysis::inline pages
