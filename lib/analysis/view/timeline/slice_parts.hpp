// SPDX-License-Identifier: Apache-2.0
#pragma once

// Joins slices that belong together on a thread's lane. A task that hands over in the middle of its
// own code has a slice before and a slice after the hand-over. Scopes that are open meanwhile span
// both slices. So the lane shows one bar for both, and the tasks that ran on top as bars inside it.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline timelines {

class slice_parts {
public:
    explicit slice_parts(const trace& from);

    /// Returns whether the slice continues an earlier one.
    [[nodiscard]] bool is_continued(std::uint32_t slice) const { return is_continued_[slice]; }

    /// Returns the last slice that continues this one, or the slice itself.
    [[nodiscard]] std::uint32_t last_part(std::uint32_t slice) const;

    /// Returns the end of last_part(). If the session ended while another task ran on top of that
    /// part, returns the end of the session.
    [[nodiscard]] std::int64_t end_ns(std::uint32_t slice) const;

private:
    void join(const task_info& task);
    [[nodiscard]] bool goes_on(std::uint32_t before, const await_info& await) const;

    const trace& from_;
    std::vector<bool> is_continued_;
    std::vector<bool> is_held_;
};

}  // namespace coroscope::analysis::inline timelines
