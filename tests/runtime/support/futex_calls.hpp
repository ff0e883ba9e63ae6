// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace coroscope::test {

/// The numbers of this process's system calls to sleep on a word, of returns from such calls, and
/// of calls to wake a sleeper.
extern std::atomic<std::uint64_t> futex_sleeps;
extern std::atomic<std::uint64_t> futex_returns;
extern std::atomic<std::uint64_t> futex_wakes;

/// The shortest timeout of a requested sleep since a test last set this variable.
extern std::atomic<std::int64_t> shortest_sleep_ns;

}  // namespace coroscope::test
