// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace coroscope::test {

/// The number of this process's system calls that name a thread or block signals.
extern std::atomic<std::uint64_t> system_calls;

}  // namespace coroscope::test
