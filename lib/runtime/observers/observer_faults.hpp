// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports of faults of observers. Any thread may call these functions.

#include <cstdint>

namespace coroscope::runtime::inline observers {

enum class observer_fault : std::uint8_t { callback_threw, unknown_handle, no_memory, text_cut };
/// Counts a fault. The first fault of each kind writes a line, followed by `text`, to stderr.
void count_fault(observer_fault kind, const char* text = "") noexcept;

}  // namespace coroscope::runtime::inline observers
