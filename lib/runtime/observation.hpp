// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is remembered of an observed scope between its two ends. The scope itself stays as small as it is: its
// ticks say that it is observed, and its mark is the address of the observation, which has the ticks and the mark
// that the session gets. Only the thread that begins or ends the scope touches it.

#include <cstdint>

#include <coroscope/detail/scope_facts.hpp>
#include <coroscope/scope.hpp>

namespace coroscope::detail {

struct observation;

/// Chooses the observers of a scope of this kind that begins now on this registered thread. Null where there are
/// none, which is all that most scopes come to under sampling.
observation* choose_observers(scope_kind kind) noexcept;

/// Calls their starts. The name may be a temporary one where the scope has no site.
void start_observers(observation& seen, const scope_facts& facts,
                     const value_source* inputs) noexcept;

/// Puts it into a start, which keeps what the session is told.
void keep_observation(scope_start& start, observation& seen) noexcept;

/// Precondition of the following: is_observed(start).

/// Calls the ends, and forgets it. Any thread.
void end_observation(const scope_start& start) noexcept;
void take_outputs(const scope_start& start, const value_source& outputs) noexcept;

scope_start observed_start(const scope_start& start) noexcept;

/// What the session was told of a start, observed or not: no ticks where nothing recorded it.
inline scope_start recorded_start(const scope_start& start) noexcept {
    return is_observed(start) ? observed_start(start) : start;
}

}  // namespace coroscope::detail
