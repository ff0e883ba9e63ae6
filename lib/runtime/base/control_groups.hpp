// SPDX-License-Identifier: Apache-2.0
#pragma once

// Limits of the control groups that the process is in, of versions 1 and 2.
//
// Threads: any. Allocates nothing.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace coroscope::runtime::inline base {

inline constexpr std::uint64_t no_group_limit = ~std::uint64_t{0};

/// The places of one limit in both versions.
struct group_limit {
    const char* controller;  ///< the controller's name in version 1
    const char* folders[2];  ///< in version 1: in /sys/fs/cgroup; may be null
    /// Reads the limit of the group with that folder; no_group_limit if there is none.
    std::uint64_t (*version_1)(std::string_view folder) noexcept;
    std::uint64_t (*version_2)(std::string_view folder) noexcept;
};

/// Returns the least limit of the process's group and of all groups above it, or no_group_limit.
/// `root` is a prefix for the paths /proc and /sys, which only tests use. Keeps errno.
std::uint64_t least_group_limit(const group_limit& which, const char* root) noexcept;

/// Reads as much of a file in a group's folder as fits, and appends a NUL. Returns false if the
/// file cannot be read or is empty.
bool read_group_file(std::string_view folder, const char* name, char* to,
                     std::size_t size) noexcept;

}  // namespace coroscope::runtime::inline base
