// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a site is called and where it stands, as every view writes it. An index that names nothing
// reads as unknown.

#include <cstdint>
#include <string>
#include <string_view>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::render {

/// The site, or null where the index names none.
[[nodiscard]] const site_info* find_site(const trace& from, std::uint32_t index) noexcept;

/// Its label, else its function; empty where it has neither.
[[nodiscard]] std::string_view name_of(const site_info& site) noexcept;

/// A path as it reads best: without leading "./" and "../", and of an absolute one the last three
/// parts.
[[nodiscard]] std::string_view short_path(std::string_view path) noexcept;

/// "folder/file.cpp:12"; empty where the file is unknown.
[[nodiscard]] std::string place(std::string_view file, std::uint32_t line);
[[nodiscard]] std::string place_of(const site_info& site);

// The same by index; "unknown" and empty where it names nothing.
[[nodiscard]] std::string site_name(const trace& from, std::uint32_t index);
[[nodiscard]] std::string site_place(const trace& from, std::uint32_t index);

/// "worker (3)", or "thread 3" where it has no name.
[[nodiscard]] std::string thread_name(const trace& from, std::uint32_t index);

[[nodiscard]] std::string_view state_name(task_state state) noexcept;

/// Whether the trace has nothing of a task but its id, as another's parent or awaiter.
[[nodiscard]] bool is_named_only(const task_info& task) noexcept;

/// Unknown for such a task.
[[nodiscard]] std::string_view state_of(const task_info& task) noexcept;

}  // namespace coroscope::analysis::render
