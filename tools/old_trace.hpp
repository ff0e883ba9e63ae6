// SPDX-License-Identifier: Apache-2.0
#pragma once

// What stands where `run` is to have a trace written.

#include <string>

namespace coroscope::tools {

/// Removes the trace that a run before left at `path`, so that it is not taken for the new one, and tries whether one can
/// be written. Empty, or why not; then nothing was changed. What the runtime would not replace stays: another file than a
/// trace of ours, one that is being written, and `program`.
[[nodiscard]] std::string make_way(const std::string& path, const std::string& program);

}  // namespace coroscope::tools
