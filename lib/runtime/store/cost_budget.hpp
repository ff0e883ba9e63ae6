// SPDX-License-Identifier: Apache-2.0
#pragma once

// The processor time that recording takes, and the limit that a session may set for it
// (profile_options::budget_percent). The helper thread estimates the cost: the bytes of the chunks
// that were taken, times the time that a byte of records took when the session was calibrated, plus
// the helper's own processor time. If the cost exceeds the budget, the helper doubles the interval
// of requests. If half of the interval would be affordable, the helper halves the interval.
//
// Threads: the helper.

#include <cstdint>

#include <coroscope/trace/format.hpp>

namespace coroscope::runtime::inline store {

struct store_parts;

/// Returns the nanoseconds that a byte of records takes, from the costs and the clock of the
/// header; 0 if they are unknown.
double recording_ns_per_byte(const trace::file_header& header) noexcept;

class cost_budget {
public:
    /// Must be called several times a second. Ends a period if it is long enough, and then sets the
    /// interval, the cost and their copies in the header.
    void look(store_parts& parts) noexcept;

private:
    struct moment {
        std::int64_t wall_ns = 0;
        std::int64_t process_ns = 0;
        std::int64_t helper_ns = 0;
        std::uint64_t bytes = 0;
    };
    static moment now(const store_parts& parts) noexcept;

    moment begin_;  // of the period
};

}  // namespace coroscope::runtime::inline store
