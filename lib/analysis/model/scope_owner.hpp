// SPDX-License-Identifier: Apache-2.0
#pragma once

// The owner of scopes that nest: a task, or a thread outside tasks.

#include <cstdint>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline model {

/// Returns a number for each owner. `task` is an index into trace::tasks, or none outside tasks.
/// `thread` is an index into trace::threads, which matters only outside tasks.
[[nodiscard]] constexpr std::uint64_t scope_owner(std::uint32_t task,
                                                  std::uint32_t thread) noexcept {
    constexpr std::uint64_t is_thread = std::uint64_t{1} << 32;
    return task != none ? task : is_thread | thread;
}

}  // namespace coroscope::analysis::inline model
