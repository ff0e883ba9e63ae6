// SPDX-License-Identifier: Apache-2.0
#pragma once

// Work of a waker before the waker itself waited for something outside the trace. It is on the
// path, but need not have delayed the request: what the waker waited for may have come later
// anyway.

#include <vector>

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline paths {

/// Returns whether the task is that of the path, or was created by it since the path began.
[[nodiscard]] bool is_of_request(const trace& loaded, const critical_path& path,
                                 std::uint32_t task);

/// Returns for each segment the index of the request's own wait into path.waits if the segment is
/// such earlier work, else none. A wait for a timer does not count: it began when the work ended.
[[nodiscard]] std::vector<std::uint32_t> earlier_work(const trace& loaded,
                                                      const critical_path& path);

}  // namespace coroscope::analysis::inline paths
