// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory for what lives as long as the process: sites and their texts. Past malloc, which a signal handler may have
// interrupted when its first scope asks for this.

#include <cstddef>

namespace coroscope::runtime {

/// Zeroed, aligned like malloc's; never given back. Null when memory is short. Under sites_mutex().
void* take_lasting(std::size_t bytes) noexcept;

}  // namespace coroscope::runtime
