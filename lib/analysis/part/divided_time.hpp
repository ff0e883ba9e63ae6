// SPDX-License-Identifier: Apache-2.0
#pragma once

// Divides a stretch of a task's time by its slices and awaits, as loading divides the whole.

#include <cstdint>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline part {

/// Returns the parts of the time from `from_ns` to `to_ns`, which lies within the task's wall time.
[[nodiscard]] time_split divided_time(const trace& loaded, const task_info& task,
                                      std::int64_t from_ns, std::int64_t to_ns);

/// The running time of scopes without the slices of other tasks that ran on top of them.
class own_times {
public:
    explicit own_times(const trace& loaded);

    /// Of a scope from `from_ns` to `to_ns`, which lies within it.
    [[nodiscard]] std::int64_t own_ns(const event& scope, std::int64_t from_ns,
                                      std::int64_t to_ns) const;

private:
    [[nodiscard]] std::int64_t on_thread_ns(std::uint32_t thread, std::uint32_t task,
                                            std::int64_t from_ns, std::int64_t to_ns) const;

    const trace& loaded_;
    /// By thread: slices, by their start; and beside each the latest end up to it.
    struct placed_slice {
        std::uint32_t index;
        std::int64_t start_ns;
        std::int64_t latest_end_ns;
    };
    std::vector<std::vector<placed_slice>> slices_;
};

}  // namespace coroscope::analysis::inline part
