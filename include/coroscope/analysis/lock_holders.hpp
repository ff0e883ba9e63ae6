// SPDX-License-Identifier: Apache-2.0
#pragma once

// The work of the threads that held the locks for which other threads waited.

#include <cstdint>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The work of a lock's holder at the moment of a look. It explains the wait only if a lock is
/// released on the thread and in the task that took it.
struct lock_holder {
    std::uint32_t thread = none;  ///< index into trace::threads; none: unknown
    std::uint32_t task = none;    ///< index into trace::tasks; none: it ran no task
    std::uint32_t event = none;   ///< innermost scope there: index into trace::events
};

/// Returns one entry per look, by index into thread_states::looks. Reads the events once.
[[nodiscard]] COROSCOPE_API std::vector<lock_holder> lock_holders(const trace& loaded);

}  // namespace coroscope::analysis
