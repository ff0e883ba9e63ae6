// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state of an observed scope between its start and its end. The scope object does not grow: a
// special value of its ticks means "observed", and its mark is then the address of the observation.
// The observation holds the real ticks and mark for the session. Only the thread that begins or
// ends the scope accesses the observation.

#include <cstdint>

#include <coroscope/detail/scope_facts.hpp>
#include <coroscope/scope.hpp>

namespace coroscope::detail {

struct observation;

/// Chooses the observers of a scope of this kind that begins now. The thread must be registered.
/// Returns null if there are none, which is the usual case under sampling.
observation* choose_observers(scope_kind kind) noexcept;

/// Calls the observers' start functions. If the scope has no site, the name may be temporary.
void start_observers(observation& seen, const scope_facts& facts,
                     const value_source* inputs) noexcept;

/// Stores the observation in a scope's start, and the start's ticks and mark in the observation.
void keep_observation(scope_start& start, observation& seen) noexcept;

/// The following functions require is_observed(start).

/// Calls the observers' end functions and releases the observation. Any thread may call it.
void end_observation(const scope_start& start) noexcept;
void take_outputs(const scope_start& start, const value_source& outputs) noexcept;

scope_start observed_start(const scope_start& start) noexcept;

/// Returns the scope's start with the session's ticks and mark, whether the scope is observed or
/// not. The ticks are 0 if no session records the scope. The scope may be one that is named while
/// it is open (open_scopes.hpp).
inline scope_start told_start(const scope_start& start) noexcept {
    return is_observed(start) ? observed_start(start) : start;
}

}  // namespace coroscope::detail
