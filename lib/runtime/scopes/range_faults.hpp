// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace coroscope::runtime::inline scopes {

/// The kinds of misuse of a range, counted in coroscope::range_faults.
enum class range_fault : std::uint8_t {
    end_after_stop,
    borrowed_died,
    attached_twice,
    callback_threw
};

/// Counts a misuse. The first of each kind in the process writes one line to stderr. Thread-safe.
void count_fault(range_fault kind) noexcept;

}  // namespace coroscope::runtime::inline scopes
