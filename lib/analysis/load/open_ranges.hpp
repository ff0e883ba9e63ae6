// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranges that began and did not end while the session ran: their labels stand in the trace, and no scope
// refers to them.

#include <vector>

#include "scope_records.hpp"
#include "scope_texts.hpp"
#include "thread_timeline.hpp"

namespace coroscope::analysis::loading {

/// The task that was current where a range began: index into trace::tasks, or none.
[[nodiscard]] std::uint32_t task_of(const range_label& label, const timeline& line,
                                    const trace& loaded);

/// Adds each to the scopes of the stream in which it began, up to the end of the session, and counts
/// them. To be called when all scopes have been read.
void add_open_ranges(const scope_texts& texts, const std::vector<timeline>& timelines,
                     const scope_context& context, std::vector<stream_scopes>& scopes);

}  // namespace coroscope::analysis::loading
