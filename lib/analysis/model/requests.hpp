// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes requests of scopes and of tasks.

#include <cstdint>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline model {

/// Returns a request that lasts as long as the scope or the range, an index into trace::events.
[[nodiscard]] request_info request_of_scope(const trace& loaded, std::uint32_t index);

/// Returns a request that lasts from the first wake to the end of the task, an index into
/// trace::tasks. It has no name.
[[nodiscard]] request_info request_of_task(const trace& loaded, std::uint32_t index);

/// Returns whether the trace shows when a scope or a range (an index into trace::events, or none)
/// ran. It does not for a scope in a coroutine that is not instrumented, and for a range outside
/// tasks.
[[nodiscard]] inline bool is_division_known(const trace& loaded, std::uint32_t event) noexcept {
    return event >= loaded.events.size() ||
           (loaded.events[event].flags & event_suspension_unknown) == 0;
}

/// Sorts requests by their starts, and numbers them from 1.
void number_requests(std::vector<request_info>& requests);

}  // namespace coroscope::analysis::inline model
