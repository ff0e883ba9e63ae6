// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces the C library's fallocate() and pwritev() in a test's program. A test case may make a
// call fail; other calls go to the system.

#include <cstdint>
#include <functional>

namespace coroscope::test {

/// The errno with which fallocate() fails for an allocation up to that end of the file. If the
/// function is null or returns 0, the system decides.
extern std::function<int(std::uint64_t end)> allocation;

/// The same for pwritev().
extern std::function<int(std::uint64_t from, std::uint64_t end)> writing;

}  // namespace coroscope::test
