// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace coroscope::test {

/// The shortest time that a trace may show for an activity of at least `passed_ns` of the system's
/// clock. The trace's clock is calibrated at the start and at the end of the session, hence a
/// tolerance of one hundredth.
constexpr std::int64_t nearly(std::int64_t passed_ns) { return passed_ns - passed_ns / 100; }

}  // namespace coroscope::test
