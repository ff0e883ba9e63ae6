// SPDX-License-Identifier: Apache-2.0
#pragma once

// A file that appears under its name only when it is whole.

#include <functional>
#include <string>

#include <coroscope/analysis/event_exports.hpp>

namespace coroscope::analysis::exporting {

/// Runs an export into PATH.tmp and renames that to PATH; removes it where anything failed.
[[nodiscard]] written to_file(const std::string& path,
                              const std::function<written(const byte_sink&)>& write);

/// Hands a whole text to a sink; what it holds is counted by `count`.
[[nodiscard]] written hand_over(const byte_sink& sink, std::string_view text, std::uint64_t count);

}  // namespace coroscope::analysis::exporting
