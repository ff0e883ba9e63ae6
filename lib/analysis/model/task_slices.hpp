// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline model {

/// Returns the index of the task's latest slice that began at or before that time. It may have
/// ended. Nothing if there is none.
inline std::optional<std::uint32_t> latest_slice_index(const trace& loaded, std::uint32_t task,
                                                       std::int64_t time_ns) {
    const index_range range = loaded.tasks[task].slices;
    if (range.empty()) return std::nullopt;
    const auto begin = loaded.slices.begin() + range.front();
    const auto after = std::upper_bound(
        begin, begin + static_cast<std::ptrdiff_t>(range.size()), time_ns,
        [](std::int64_t moment, const slice& next) { return moment < next.start_ns; });
    if (after == begin) return std::nullopt;
    return range.front() + static_cast<std::uint32_t>(after - begin) - 1;
}

/// The same, but returns the slice.
inline std::optional<slice> latest_slice(const trace& loaded, std::uint32_t task,
                                         std::int64_t time_ns) {
    const std::optional<std::uint32_t> index = latest_slice_index(loaded, task, time_ns);
    return index ? std::optional<slice>(loaded.slices[*index]) : std::nullopt;
}

/// Returns whether the wait kept its thread: the waiter is outside tasks, or its task was on that
/// thread from the wait's start to its end. A suspended coroutine waits without a thread.
inline bool is_on_thread(const trace& loaded, const resource_wait& wait) {
    if (wait.task >= loaded.tasks.size()) return true;
    const std::optional<slice> run = latest_slice(loaded, wait.task, wait.start_ns);
    return run && run->thread == wait.thread && run->end_ns >= wait.end_ns;
}

}  // namespace coroscope::analysis::inline model
