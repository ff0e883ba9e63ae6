// SPDX-License-Identifier: Apache-2.0
#pragma once

// Quotes paths in commands that we print, so that they can be pasted into a shell.

#include <string>
#include <string_view>

namespace coroscope::analysis::inline text {

/// Returns the path as one word of a shell's command line. The word is not an option and is safe to
/// print. It is the path unchanged if possible, else the path in quotes. Control characters and
/// invalid UTF-8 become escapes within $'', which all but the oldest shells support.
[[nodiscard]] std::string shell_path(std::string_view path);

}  // namespace coroscope::analysis::inline text
