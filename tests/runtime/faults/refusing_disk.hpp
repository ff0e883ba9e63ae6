// SPDX-License-Identifier: Apache-2.0
#pragma once

// The C library's fallocate() and pwritev() in a test's program: what a case wants to fail fails, the rest is the system's.

#include <cstdint>
#include <functional>

namespace coroscope::test {

/// What fallocate() gives up to that end of the file, an errno; 0, or null: what the system gives.
extern std::function<int(std::uint64_t end)> allocation;

/// The same of pwritev().
extern std::function<int(std::uint64_t from, std::uint64_t end)> writing;

}  // namespace coroscope::test
