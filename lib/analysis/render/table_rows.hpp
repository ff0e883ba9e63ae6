// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the three forms of the table share: which rows, in which order, and what of a row is known.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <coroscope/analysis/table.hpp>

namespace coroscope::analysis::render {

/// Indices of the rows to print, sorted and limited.
[[nodiscard]] result<std::vector<std::size_t>> chosen_rows(const table_input& input,
                                                           const table_options& options);

/// A sum over a row's events that leaves out those of which it is unknown. Empty where it is
/// unknown of all of them.
[[nodiscard]] optional_ns known_sum(const function_event_avg& row, std::int64_t sum_ns);

/// The same of suspended and queued time, of which nothing is known either where all of the wait is waiting.
[[nodiscard]] optional_ns known_wait(const function_event_avg& row, std::int64_t sum_ns);

/// Whether suspended and queued time are more than the row's sums say.
[[nodiscard]] bool is_least_wait(const function_event_avg& row);

/// Time on the CPU per event of which it is known.
[[nodiscard]] optional_ns cpu_average(const function_event_avg& row);

/// As an integer, as far as one holds it.
[[nodiscard]] std::int64_t whole_flops(const function_event_avg& row);

// What the rows have, and so which columns stand in the table.
[[nodiscard]] bool has_waits(const table_input& input);
[[nodiscard]] bool has_places(const table_input& input);
[[nodiscard]] bool has_device_time(const table_input& input);
[[nodiscard]] bool has_device_memory(const table_input& input);
[[nodiscard]] bool has_nodes(const table_input& input);
[[nodiscard]] bool has_overloads(const table_input& input);
[[nodiscard]] bool has_shapes(const table_input& input);
[[nodiscard]] bool has_stacks(const table_input& input);
[[nodiscard]] bool has_flops(const table_input& input);

}  // namespace coroscope::analysis::render
