// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline tasks {

/// The slices of a few threads, by time.
class slices_of_threads {
public:
    /// `wanted`: by index into trace::threads.
    slices_of_threads(const trace& loaded, const std::vector<bool>& wanted);

    /// Returns the task that ran on the thread, or none. The thread must be a wanted one.
    [[nodiscard]] std::uint32_t task_at(std::uint32_t thread, std::int64_t time_ns) const;

private:
    [[nodiscard]] std::int64_t start_of(std::uint32_t at) const {
        return loaded_.slices[at].start_ns;
    }

    const trace& loaded_;
    std::vector<std::vector<std::uint32_t>> slices_;  // by thread
};

}  // namespace coroscope::analysis::inline tasks
