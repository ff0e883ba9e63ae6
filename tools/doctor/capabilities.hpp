// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernel's privileges on which recording depends.

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "readings.hpp"

namespace coroscope::tools {

/// The values are the kernel's numbers.
enum class capability : std::uint8_t { ipc_lock = 14, sys_admin = 21, perfmon = 38 };

/// Returns false if the capabilities are unknown.
[[nodiscard]] inline bool has_any(const privilege_readings& privileges,
                                  std::initializer_list<capability> wanted) {
    const std::uint64_t held = privileges.capabilities.value_or(0);
    return std::any_of(wanted.begin(), wanted.end(), [held](capability each) {
        return (held >> static_cast<unsigned>(each) & 1) != 0;
    });
}

}  // namespace coroscope::tools
