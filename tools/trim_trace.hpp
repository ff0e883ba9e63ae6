// SPDX-License-Identifier: Apache-2.0
#pragma once

// Cuts the unused end off the trace of a process that died during its session.

#include <cstdint>
#include <string>

namespace coroscope::tools {

enum class trimming : std::uint8_t {
    done,    ///< cut, or nothing to do: the session was stopped, or the file is not a sound trace
    in_use,  ///< a process records into the file; it is unchanged
    failed   ///< the file cannot be opened for writing, or cutting it failed; no record is lost
};

/// If the process ended before its session was stopped, cuts the file behind the last used chunk,
/// and stores the number of the remaining chunks in the header. No record changes.
[[nodiscard]] trimming trim_trace(const std::string& path);

}  // namespace coroscope::tools
