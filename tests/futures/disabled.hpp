// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace coroscope::test {

/// Ranges and futures in a file without the profiler: 2 ends and 3 values of 1.
int disabled_futures();

}  // namespace coroscope::test
