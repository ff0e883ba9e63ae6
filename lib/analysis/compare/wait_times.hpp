// SPDX-License-Identifier: Apache-2.0
#pragma once

// The time for which an await waited for something that is not recorded work.

#include <cstdint>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline compare {

class wait_times {
public:
    explicit wait_times(const trace& loaded)
        : loaded_(loaded), waits_ns_(loaded.tasks.size()), states_(loaded.tasks.size()) {}

    /// The await's time until its wake. If it waited for a recorded task that began to wait no
    /// earlier, the sum of that task's own waits instead. The time for which a task ran, or was
    /// queued, is left out. Unknown if a wake is.
    [[nodiscard]] optional_ns of(const await_info& await);

private:
    enum class progress : std::uint8_t { untouched, begun, known, unknown };

    [[nodiscard]] bool is_explained_by_task(const await_info& await) const;
    /// Returns the wait of an await of which the awaited task is done.
    [[nodiscard]] optional_ns finished(const await_info& await) const;
    void take_task(std::uint32_t first);
    void finish_task(std::uint32_t task);

    const trace& loaded_;
    std::vector<std::int64_t> waits_ns_;  // by task
    std::vector<progress> states_;        // by task
};

}  // namespace coroscope::analysis::inline compare
