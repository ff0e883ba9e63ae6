// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds threads by the kernel's ids. The kernel may use an id again.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <coroscope/analysis/model.hpp>

#include "records/clock_map.hpp"
#include "records/metadata.hpp"
#include "records/task_records.hpp"

namespace coroscope::analysis::inline loading {

/// The time in which a thread is known to have existed.
struct existence {
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;
};

class thread_ids {
public:
    /// Precondition: the threads, the slices and the events of `loaded` are complete.
    thread_ids(const task_records& records, const metadata& names, clock_map& clock,
               const trace& loaded);

    /// The threads that had the id, by time.
    [[nodiscard]] const std::vector<std::uint32_t>& threads_of(std::uint64_t os_id) const;

    /// The thread that had the id at that moment, or none.
    [[nodiscard]] std::uint32_t thread_at(std::uint64_t os_id, std::int64_t time_ns) const;

    [[nodiscard]] existence existence_of(std::uint32_t thread) const { return exists_[thread]; }

private:
    void end_at_successor(const std::vector<std::uint32_t>& threads);

    std::vector<existence> exists_;  // by thread
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_os_id_;
};

}  // namespace coroscope::analysis::inline loading
