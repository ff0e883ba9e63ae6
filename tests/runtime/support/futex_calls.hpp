// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace coroscope::test {

/// How often this process has called the system to sleep on a word, how often it has come back from that, and how often
/// it has called to wake who sleeps.
extern std::atomic<std::uint64_t> futex_sleeps;
extern std::atomic<std::uint64_t> futex_returns;
extern std::atomic<std::uint64_t> futex_wakes;

}  // namespace coroscope::test
