// SPDX-License-Identifier: Apache-2.0
#pragma once

// Divides the running time of slices and tasks by the states of their threads. A sum over any
// number of slices takes constant time.

#include <cstdint>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline timelines {

class running_states {
public:
    explicit running_states(const trace& from);

    /// Returns the sums over the slices from `first` to `last`, both included. Indices out of range
    /// count as 0.
    [[nodiscard]] state_times of_slices(std::uint32_t first, std::uint32_t last) const;

    /// Returns the sums over the task's running time between two times, in O(log n) steps.
    [[nodiscard]] state_times of_task(std::uint32_t task, std::int64_t from_ns,
                                      std::int64_t to_ns) const;

    /// Returns the slices of the task that overlap that time.
    [[nodiscard]] index_range slices_of(std::uint32_t task, std::int64_t from_ns,
                                        std::int64_t to_ns) const;

private:
    [[nodiscard]] state_times of_part(std::uint32_t slice, std::int64_t from_ns,
                                      std::int64_t to_ns) const;

    const trace& from_;
    std::vector<state_times> before_;  ///< by slice: the sums of all slices before it
};

}  // namespace coroscope::analysis::inline timelines
