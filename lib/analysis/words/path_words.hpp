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

/// "resource journal", by an index into trace::sites; "a lock" if it is none.
[[nodiscard]] std::string held_title(const trace& loaded, std::uint32_t resource);

/// "own work" of a time on a processor, "no processor" of a preempted one; empty for other kinds.
[[nodiscard]] std::string_view own_cause(path_kind kind) noexcept;

/// "audit.flush in task 17 (audit)", by indices into trace::tasks and trace::events; no_task() if
/// both are none.
[[nodiscard]] std::string work_title(const trace& loaded, std::uint32_t task, std::uint32_t event);

/// "wake", "end", "lock", "resource".
[[nodiscard]] std::string_view name_of_edge(path_edge edge) noexcept;

/// Returns a segment with the names and the place of the wait.
[[nodiscard]] path_segment segment_of(const path_wait& wait) noexcept;

/// "audit.flush on thread io (2)", "a lock held by audit.flush", "resource journal held by
/// audit.flush", "no task ran on thread io (2)", "no processor for thread io (2)"; empty without a
/// cause, and if the cause is the waiting scope.
[[nodiscard]] std::string cause_title(const trace& loaded, const request_difference& of);

/// "40 %", the cause's share of the longer time; empty if the cause is no work, or has nearly all.
[[nodiscard]] std::string cause_share(const request_difference& of);

}  // namespace coroscope::analysis::inline words
