// SPDX-License-Identifier: Apache-2.0
#pragma once

// The steps of build_tree, in the order in which they run. Each sees what those before it did.

#include <cstdint>
#include <vector>

#include <coroscope/analysis/event_list.hpp>

namespace coroscope::analysis::events {

/// Whether the event may have a parent and be one. `every` says that every CPU event may.
[[nodiscard]] bool takes_part(const event_row& row, bool every) noexcept;

/// Bounds times, and marks as asynchronous what ended on another thread than it began on.
void prepare_rows(event_list& list);

/// Rows by (start ascending, end descending); equals keep their order.
void order_rows(event_list& list);

/// Net memory of each CPU event, and rows for the records that no event has which averages are made of (a Python
/// function is none of these). The rows are in order before and after.
void link_memory(event_list& list);

/// Sets each row's parent.
void find_parents(event_list& list);

/// For each row the row that took it over, itself where it stays.
[[nodiscard]] std::vector<std::uint32_t> fold_duplicates(event_list& list);

/// Sets the parent of device events to what launched them.
void link_devices(event_list& list, const std::vector<std::uint32_t>& kept_as);

/// Removes the rows that another took over.
void drop_folded(event_list& list, const std::vector<std::uint32_t>& kept_as);

/// Lists what was launched by the row that launched it.
void order_launched(event_list& list);

/// Children's times, device times and memory, added to their parents'.
void sum_children(event_list& list);

/// Stacks of deferred work.
void set_backward_stacks(event_list& list);

}  // namespace coroscope::analysis::events
