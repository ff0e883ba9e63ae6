// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace coroscope::runtime {

/// What can go wrong with a range; the figures of coroscope::range_faults.
enum class range_fault : std::uint8_t {
    end_after_stop,
    borrowed_died,
    attached_twice,
    callback_threw
};

/// Counts it; the first of each kind in the process writes one line to stderr. Any thread.
void count_fault(range_fault kind) noexcept;

}  // namespace coroscope::runtime
