// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes a wall time as the sum of its parts.

#include <cstdint>
#include <string>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline words {

/// "12.3 ms = 0.4 ms running + 11.0 ms suspended + 0.6 ms queued + 0.3 ms waiting". If there is
/// waiting time (the wake is unseen), a suspended or queued part of 0 is unknown, and left out.
[[nodiscard]] std::string split_text(std::int64_t wall_ns, const time_split& time);

/// The same with the states of the running time in its place: "... = 0.3 ms on-CPU + 0.1 ms blocked
/// + ...". If a part of them is unknown: "+ 0.1 ms running in an unknown state".
[[nodiscard]] std::string split_text(std::int64_t wall_ns, const time_split& time,
                                     const state_times& states);

/// Returns "12.3 ms, of which the parts are unknown".
[[nodiscard]] std::string unknown_split_text(std::int64_t wall_ns);

}  // namespace coroscope::analysis::inline words
