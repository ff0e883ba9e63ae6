// SPDX-License-Identifier: Apache-2.0
#pragma once

// A file that appears under its name only when it is whole.

#include <functional>
#include <string>

#include <coroscope/analysis/event_exports.hpp>

namespace coroscope::analysis::inline exports {

/// Runs an export into PATH.tmp and renames that to PATH. Removes it on failure.
[[nodiscard]] written to_file(const std::string& path,
                              const std::function<written(const byte_sink&)>& write);

/// Renames a finished file to its place. Returns `done`, or the failure: a device, a folder or a
/// pipe at that place is not replaced. Removes the file on failure.
[[nodiscard]] written put_in_place(written done, const std::string& unfinished,
                                   const std::string& path);

/// Hands a whole text to a sink. `count` is the number of its events.
[[nodiscard]] written deliver(const byte_sink& sink, std::string_view text, std::uint64_t count);

}  // namespace coroscope::analysis::inline exports
