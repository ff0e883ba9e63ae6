// SPDX-License-Identifier: Apache-2.0
#pragma once

// The names and the places of a critical path's segments.

#include <cstdint>
#include <string>
#include <string_view>

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/slow_requests.hpp>

namespace coroscope::analysis::inline words {

/// Returns the name of a running segment's innermost scope, else of its task; for a wait, that of
/// the await.
[[nodiscard]] std::string segment_label(const trace& loaded, const path_segment& segment);

/// Returns the site of that scope, task or await: an index into trace::sites, or none.
[[nodiscard]] std::uint32_t segment_site(const trace& loaded, const path_segment& segment) noexcept;

/// Returns "42 (load)"; "none" if there is no task.
[[nodiscard]] std::string task_title(const trace& loaded, std::uint32_t task);

/// "no task"; "no recorded task" if requests were left out or records were lost.
[[nodiscard]] std::string no_task(const trace& loaded);

/// "audit.flush in task 17 (audit)"; no_task() if the thread ran none, and no scope.
[[nodiscard]] std::string work_title(const trace& loaded, const path_blame& work);

/// The work on the executor's threads meanwhile: "audit (task 17) for 3.1 ms, no task for 0.2 ms,
/// on thread worker (2)"; with several threads, each work with its thread. Empty if it is unknown.
[[nodiscard]] std::string queued_behind(const trace& loaded, const critical_path& path,
                                        const path_segment& segment);

/// "wake", "end", "lock", "resource".
[[nodiscard]] std::string_view name_of_edge(path_edge edge) noexcept;

/// Returns a segment with the names and the place of the wait.
[[nodiscard]] path_segment segment_of(const path_wait& wait) noexcept;

/// "audit.flush on thread io (2)", "a lock held by audit.flush", "no task ran on thread io (2)",
/// "no processor for thread io (2)"; empty without a cause, and if the cause is the waiting scope.
[[nodiscard]] std::string cause_title(const trace& loaded, const request_difference& of);

}  // namespace coroscope::analysis::inline words
