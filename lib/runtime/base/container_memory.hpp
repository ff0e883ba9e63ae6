// SPDX-License-Identifier: Apache-2.0
#pragma once

// The memory limit of the process's container: the least limit of its control group and of all
// groups above it, of versions 1 and 2.
//
// Threads: any. Allocates nothing.

#include <cstdint>

namespace coroscope::runtime::inline base {

/// Returns the limit in bytes, or 0 if there is none or it cannot be read. `root` is a prefix for
/// the paths /proc and /sys, which only tests use.
std::uint64_t container_memory(const char* root = "") noexcept;

/// The size limit of a session's trace.
struct trace_limit {
    std::uint64_t bytes;
    std::uint64_t container_bytes;  ///< the container's limit if it decided; else 0
};

/// Returns `asked` if it is not 0. Else returns `usual`, but at most an eighth of the container's
/// memory, because the pages of a trace's file count towards that memory, too.
constexpr trace_limit limit_within(std::uint64_t asked, std::uint64_t usual,
                                   std::uint64_t container) noexcept {
    constexpr std::uint64_t share = 8;
    if (asked != 0) return {asked, 0};
    if (container == 0 || container / share >= usual) return {usual, 0};
    return {container / share, container};
}

}  // namespace coroscope::runtime::inline base
