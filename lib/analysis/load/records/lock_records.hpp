// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes the waits for locks.

#include <cstdint>
#include <vector>

#include "clock_map.hpp"
#include <coroscope/analysis/model.hpp>
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::inline records {

/// The marks of a wait, which name tasks and threads by their ids.
struct lock_marks {
    std::uint64_t waiter = 0;
    std::uint64_t releaser = 0;
};

struct lock_records {
    std::vector<lock_marks> marks;  ///< by index into trace::lock_waits, before it is sorted
    std::uint64_t malformed = 0;
};

/// Returns whether the fact is a wait for a lock.
bool is_lock_wait(const coroscope::trace::record_view& fact);

/// Appends to trace::lock_waits and to `found`. Returns the moment at which the wait ended.
std::int64_t read_lock_wait(const coroscope::trace::record_view& fact, std::uint32_t thread,
                            clock_map& clock, trace& loaded, lock_records& found);

}  // namespace coroscope::analysis::inline records
