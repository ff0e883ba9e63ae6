// SPDX-License-Identifier: Apache-2.0
#pragma once

// The number of processors, and the processor time, that the process may use.
//
// Threads: any. Allocates nothing. Keeps errno.

#include <cstdint>

namespace coroscope::runtime::inline base {

/// Returns the number of processors on which the calling thread may run; 0 if unknown.
std::uint32_t usable_processors() noexcept;

/// Returns the processor time that the process's container may use, in per cent of one processor:
/// the least limit of its control group and of all groups above it. Returns 0 if there is no limit
/// or it cannot be read. `root` is a prefix for the paths /proc and /sys, which only tests use.
std::uint32_t container_quota_percent(const char* root = "") noexcept;

}  // namespace coroscope::runtime::inline base
