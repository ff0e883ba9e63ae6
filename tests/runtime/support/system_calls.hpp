// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace coroscope::test {

/// How often this process has called the system to name a thread or to block signals.
extern std::atomic<std::uint64_t> system_calls;

}  // namespace coroscope::test
