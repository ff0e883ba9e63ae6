// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranges that began and did not end while the session ran. The trace has their labels, but no scope
// that refers to these.

#include <vector>

#include "../tasks/thread_timeline.hpp"
#include "scope_records.hpp"
#include "scope_texts.hpp"

namespace coroscope::analysis::inline scopes {

/// The task that was current when a range began: index into trace::tasks, or none.
[[nodiscard]] std::uint32_t task_of(const range_label& label, const timeline& line,
                                    const trace& loaded);

/// Adds each open range, up to the end of the session, to the scopes of the stream in which it
/// began, and counts them. All scopes must have been read.
void add_open_ranges(const scope_texts& texts, const std::vector<timeline>& timelines,
                     const scope_context& context, std::vector<stream_scopes>& scopes);

}  // namespace coroscope::analysis::inline scopes
