// SPDX-License-Identifier: Apache-2.0
#pragma once

// Launches, and the tasks that made them, noted without the recorder.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "recorded_devices.hpp"

namespace coroscope::test {

/// The task of each call, as the tasks themselves note it. note() is thread-safe; the other
/// functions are not.
class ledger {
public:
    void note(std::uint32_t correlation, std::uint64_t task) {
        const std::lock_guard lock(mutex_);
        expected_[correlation] = task;
    }
    [[nodiscard]] std::size_t size() const { return expected_.size(); }

    /// The number of activities with another task, and of those without a noted call.
    [[nodiscard]] std::size_t wrong(const recorded_devices& found) const {
        std::size_t bad = 0;
        for (const recorded_activity& each : found.activities) {
            const auto known = expected_.find(each.body.correlation);
            bad += known == expected_.end() || known->second != each.body.task ? 1U : 0U;
        }
        return bad;
    }

private:
    std::mutex mutex_;
    std::map<std::uint32_t, std::uint64_t> expected_;
};

inline std::uint64_t own_task() { return current_context().task; }

/// Makes a launch by this thread and notes it for that task.
inline void launch_as(ledger& book, std::uint64_t task) { book.note(fake::call_launch({}), task); }

}  // namespace coroscope::test
