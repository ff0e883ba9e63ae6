// SPDX-License-Identifier: Apache-2.0
#pragma once

// The name and the place of a site, as every view writes them. An index out of range reads as
// unknown.

#include <cstdint>
#include <string>
#include <string_view>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline words {

/// Returns the site with that index, or null if there is no such site.
[[nodiscard]] const site_info* find_site(const trace& from, std::uint32_t index) noexcept;

/// Returns the site's label, else its function's name; empty if it has neither.
[[nodiscard]] std::string_view name_of(const site_info& site) noexcept;

/// Shortens a path for display: removes leading "./" and "../", and keeps the last three parts of
/// an absolute path.
[[nodiscard]] std::string_view short_path(std::string_view path) noexcept;

/// "folder/file.cpp:12"; empty if the file is unknown.
[[nodiscard]] std::string place(std::string_view file, std::uint32_t line);
[[nodiscard]] std::string place_of(const site_info& site);

// The same by index. If there is no such site, the name is "unknown" and the place empty.
[[nodiscard]] std::string site_name(const trace& from, std::uint32_t index);
[[nodiscard]] std::string site_place(const trace& from, std::uint32_t index);

/// Returns the file and line of the call that spawned a task (an index into trace::spawn_places),
/// else "in FUNCTION"; empty if both are unknown.
[[nodiscard]] std::string spawn_place_text(const trace& from, std::uint32_t index);
/// Returns whether the place of the call that spawned some task is known.
[[nodiscard]] bool knows_spawn_places(const trace& from) noexcept;

/// "worker (3)", or "thread 3" if it has no name.
[[nodiscard]] std::string thread_name(const trace& from, std::uint32_t index);

[[nodiscard]] std::string_view state_name(task_state state) noexcept;

[[nodiscard]] std::string_view outcome_name(coroscope::trace::await_outcome outcome) noexcept;

/// "timer"; "object" if the kind is unknown and it has no name.
[[nodiscard]] std::string object_kind_name(const object_info& object);
/// "timer 3"; empty without an object.
[[nodiscard]] std::string object_name(const trace& loaded, std::uint32_t object);

/// The knowledge of the await's wake: "seen", or its reason "timer" or "cancelled"; "by the
/// resume", "not yet" or "unseen".
[[nodiscard]] std::string_view wake_text(const trace& loaded, const await_info& await) noexcept;

/// "yes"; "no" if the await is still open; "earlier" if it resumed at an unknown time before
/// resume_ns.
[[nodiscard]] std::string_view resumed_text(const await_info& await) noexcept;

/// Returns whether the trace has only the task's id, as the parent or awaiter of another task.
[[nodiscard]] bool is_named_only(const task_info& task) noexcept;

/// Returns the state's name; "unknown" if is_named_only(task).
[[nodiscard]] std::string_view state_of(const task_info& task) noexcept;

}  // namespace coroscope::analysis::inline words
