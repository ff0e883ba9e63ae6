// SPDX-License-Identifier: Apache-2.0
#pragma once

// The file at the path to which `run` will have a trace written.

#include <string>

namespace coroscope::tools {

/// Removes the trace of an earlier run at `path`, so that it is not mistaken for the new one, and
/// tests whether a trace can be written there. Returns an empty text, or the obstacle; then nothing
/// was changed. Files that the runtime would not replace stay: any file that is no trace of ours, a
/// trace that is being written, and `program`.
[[nodiscard]] std::string make_way(const std::string& path, const std::string& program);

}  // namespace coroscope::tools
