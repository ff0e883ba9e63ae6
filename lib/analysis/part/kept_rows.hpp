// SPDX-License-Identifier: Apache-2.0
#pragma once

// Removes rows from the lists of a trace to which other lists refer, and numbers the rest anew.

#include <cstdint>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline part {

/// The rows that stay, by their index.
struct kept_rows {
    explicit kept_rows(const trace& of);

    std::vector<bool> tasks;
    std::vector<bool> slices;
    std::vector<bool> awaits;
    std::vector<std::uint32_t> events;      ///< in their new order; each after its parent
    std::vector<std::uint32_t> activities;  ///< of devices, in their new order

    /// Keeps the task, too.
    void keep_task(std::uint32_t task) {
        if (task < tasks.size()) tasks[task] = true;
    }
};

/// Removes all other rows. A reference to one of these becomes `none`. Slices and awaits of a task
/// that is removed must not be kept. Does not change times.
void remove_others(trace& from, const kept_rows& kept);

}  // namespace coroscope::analysis::inline part
