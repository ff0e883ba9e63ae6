// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the events inside another event of the same name and category. Needs memory only for the
// events that are open at one time.

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline timelines {

class open_rows {
public:
    explicit open_rows(const trace& from) : from_(from) {}

    /// Returns whether an event around this one has the same name and category. Events must come in
    /// the order of their starts.
    bool take(std::uint32_t index);

private:
    [[nodiscard]] bool is_same_row(std::uint32_t left, std::uint32_t right) const;
    void forget_ended(std::int64_t time_ns);

    const trace& from_;
    /// For each open event the nearest event around it of another row, so that recursion takes one
    /// step.
    std::unordered_map<std::uint32_t, std::uint32_t> around_;
    std::size_t swept_at_ = 64;
};

}  // namespace coroscope::analysis::inline timelines
