// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tests of a thread's gate at a task's transition.

#include <cstdint>

#include <coroscope/detail/thread_state.hpp>

namespace coroscope::runtime::inline tasks {

/// Returns whether there may be a listener. `gate` is loaded already.
[[gnu::always_inline]] inline bool may_track(std::int32_t gate) noexcept {
    constexpr std::int32_t listeners = detail::gate_observed | detail::gate_stacks |
                                       detail::gate_slow_clock | detail::gate_unknown;
    return (gate &
            (detail::gate_live | detail::gate_devices | (listeners & ~detail::gate_careful))) != 0;
}

/// Returns whether nothing but a session needs this thread's transitions. A session may, but need
/// not, record here.
[[gnu::always_inline]] inline bool no_more_than_records(std::int32_t gate) noexcept {
    return (gate & ~(detail::gate_local | detail::gate_global | detail::gate_open |
                     detail::gate_sampling)) == 0;
}
/// Returns whether a session records here, and nothing else needs this thread's transitions.
[[gnu::always_inline]] inline bool only_records(std::int32_t gate) noexcept {
    return no_more_than_records(gate) && gate != 0;
}

}  // namespace coroscope::runtime::inline tasks
