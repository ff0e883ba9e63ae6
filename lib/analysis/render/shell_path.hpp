// SPDX-License-Identifier: Apache-2.0
#pragma once

// Commands that we print are there to be pasted into a shell.

#include <string>
#include <string_view>

namespace coroscope::analysis::render {

/// The path as one word of a shell's command line that is no option, and safe to print: as it is where that will do,
/// else in quotes. Control characters and what is no UTF-8 are escapes within $'', which all shells have but the oldest.
[[nodiscard]] std::string shell_path(std::string_view path);

}  // namespace coroscope::analysis::render
