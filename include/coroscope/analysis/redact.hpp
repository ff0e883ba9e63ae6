// SPDX-License-Identifier: Apache-2.0
#pragma once

// Removes values from a loaded trace before it leaves the machine. Names of scopes, tasks, threads
// and files stay.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The text in place of a removed value.
inline constexpr std::string_view redacted_text = "(redacted)";

/// The values to remove.
struct redaction {
    std::vector<std::string> attributes{};  ///< keys; '*' and '?' stand for any characters
    bool arguments = false;                 ///< the values of arguments of scopes and events

    [[nodiscard]] bool any() const noexcept { return arguments || !attributes.empty(); }
};

/// Replaces the values, also in trace::strings unless something else has the same text. Returns
/// their number.
COROSCOPE_API std::uint64_t redact(trace& from, const redaction& what);

/// The same for events. They have arguments alone; their metadata and other members count as
/// arguments, too.
COROSCOPE_API std::uint64_t redact(event_list& from, const redaction& what);

}  // namespace coroscope::analysis
