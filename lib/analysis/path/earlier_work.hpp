// SPDX-License-Identifier: Apache-2.0
#pragma once

// Work of a waker before the waker itself waited for something outside the trace. It is on the
// path, but need not have delayed the request: the awaited thing may have come later anyway.

#include <vector>

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline paths {

/// Returns whether the task is that of the path, or was created by it since the path began.
[[nodiscard]] bool is_of_request(const trace& loaded, const critical_path& path,
                                 std::uint32_t task);

/// Returns the outermost scope around `scope` that is not open during all of the wait, an index
/// into trace::events: the item for which the waker works. none: there is no such scope.
[[nodiscard]] std::uint32_t item_of(const trace& loaded, std::uint32_t scope,
                                    const path_wait& wait);

/// Returns for each segment the index of the request's own wait into path.waits if the segment is
/// such earlier work, else none. A waker that waits in the middle of an item, or for a timer in an
/// item, has begun the item and the awaited work. Its work before that wait is no such work.
[[nodiscard]] std::vector<std::uint32_t> earlier_work(const trace& loaded,
                                                      const critical_path& path);

}  // namespace coroscope::analysis::inline paths
