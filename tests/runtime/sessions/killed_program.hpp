// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace coroscope::test {

/// The sleep of a thread of killed_program after each burst: the longest sleep of the session's
/// helper.
inline constexpr std::chrono::milliseconds burst_pause{16};

}  // namespace coroscope::test
