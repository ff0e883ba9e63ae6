// SPDX-License-Identifier: Apache-2.0
#pragma once

// The known part of a row's figures, and the facts that a table's columns depend on.

#include <cstdint>

#include <coroscope/analysis/table.hpp>

namespace coroscope::analysis::inline tables {

/// Returns a sum over those of a row's events whose value is known. Empty if none is known.
[[nodiscard]] optional_ns known_sum(const function_event_avg& row, std::int64_t sum_ns);

/// The same for suspended and queued time. The result is also empty if all of the wait is waiting
/// time.
[[nodiscard]] optional_ns known_wait(const function_event_avg& row, std::int64_t sum_ns);

/// Returns whether all times may be longer than the row's sums.
[[nodiscard]] bool is_least(const function_event_avg& row);

/// Returns whether suspended and queued time may be longer than the row's sums.
[[nodiscard]] bool is_least_wait(const function_event_avg& row);

/// Running time per event, over the events whose time is known.
[[nodiscard]] optional_ns cpu_average(const function_event_avg& row);

/// Returns the known part of a division of running time. Empty if no part is known.
[[nodiscard]] optional_ns known_state(const function_event_avg& row, const state_times& times,
                                      std::int64_t part_ns);

/// Returns the FLOPs as an integer, cut to its range.
[[nodiscard]] std::int64_t whole_flops(const function_event_avg& row);

// Each returns whether the rows have such figures, and so whether the table shows their columns.
[[nodiscard]] bool has_waits(const table_input& input);
[[nodiscard]] bool has_states(const table_input& input);
[[nodiscard]] bool has_percentiles(const table_input& input);
[[nodiscard]] bool has_preempted(const table_input& input);
[[nodiscard]] bool has_places(const table_input& input);
[[nodiscard]] bool has_device_time(const table_input& input);
[[nodiscard]] bool has_device_memory(const table_input& input);
[[nodiscard]] bool has_partial(const table_input& input);
[[nodiscard]] bool has_unfinished(const table_input& input);
[[nodiscard]] bool has_nodes(const table_input& input);
[[nodiscard]] bool has_overloads(const table_input& input);
[[nodiscard]] bool has_shapes(const table_input& input);
[[nodiscard]] bool has_stacks(const table_input& input);
[[nodiscard]] bool has_flops(const table_input& input);

}  // namespace coroscope::analysis::inline tables
