// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory for objects that live as long as the process: sites and their texts. It does not call
// malloc, which a signal handler may have interrupted when its first scope needs this memory.

#include <cstddef>

namespace coroscope::runtime::inline base {

/// Returns zeroed memory with malloc's alignment, which is never freed. Returns null if memory is
/// short. The caller must hold sites_mutex().
void* take_lasting(std::size_t bytes) noexcept;

}  // namespace coroscope::runtime::inline base
