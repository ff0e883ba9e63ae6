// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace coroscope::test {

/// How often this process has called the system to sleep on a word, and to wake who sleeps on one.
extern std::atomic<std::uint64_t> futex_sleeps;
extern std::atomic<std::uint64_t> futex_wakes;

}  // namespace coroscope::test
