// SPDX-License-Identifier: Apache-2.0
#pragma once

// Selects the rows that the tree, the averages and the tables use. `every` is the list's
// every_event_nests.

#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/event_list.hpp>

namespace coroscope::analysis::inline answers {

/// Returns whether the row is on the CPU and has one of torch's categories. Categories of device
/// work do not count: other profilers write kernels, too.
[[nodiscard]] inline bool is_torch_activity(const event_row& row) noexcept {
    return row.device == device_kind::cpu &&
           (row.what == activity::cpu_op || row.what == activity::user_annotation ||
            row.what == activity::runtime);
}

/// Returns whether the row is a kernel, a copy or a set.
[[nodiscard]] inline bool ran_on_device(const event_row& row) noexcept {
    return row.what == activity::kernel || row.what == activity::gpu_memcpy ||
           row.what == activity::gpu_memset;
}

[[nodiscard]] inline bool is_cpu_row(const event_row& row, bool every) noexcept {
    if (row.device != device_kind::cpu || row.what == activity::memory) return false;
    return every || is_torch_activity(row);
}

[[nodiscard]] inline bool is_selected(const event_row& row, event_selection select,
                                      bool every) noexcept {
    if ((row.flags & row_hidden) != 0) return false;
    switch (select) {
        case event_selection::cpu: return is_cpu_row(row, every);
        case event_selection::device: return ran_on_device(row);
        case event_selection::all: break;
    }
    return is_cpu_row(row, every) || ran_on_device(row) ||
           row.what == activity::gpu_user_annotation || row.what == activity::memory;
}

/// Returns whether the row is on a lane of the selection but is not shown. Memory rows do not
/// count, because they have notes of their own, nor do hidden rows, which are the profiler's own.
[[nodiscard]] inline bool is_left_out(const event_row& row, event_selection select,
                                      bool every) noexcept {
    if ((row.flags & row_hidden) != 0 || row.what == activity::memory) return false;
    if (is_selected(row, select, every)) return false;
    const bool on_cpu = row.device == device_kind::cpu;
    return select == event_selection::all || on_cpu == (select == event_selection::cpu);
}

}  // namespace coroscope::analysis::inline answers
