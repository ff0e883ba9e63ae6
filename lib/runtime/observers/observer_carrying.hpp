// SPDX-License-Identifier: Apache-2.0
#pragma once

// The observers that contexts carry: thread-local ones, and the switch that turns observers off.
// They follow the work as attributes do: each change adds a node on top of the nodes that the
// context carries. The topmost node with observers holds the complete state. Traces do not contain
// these nodes. All functions act on the calling thread.

#include <cstdint>

#include "observer_list.hpp"

namespace coroscope::runtime::inline observers {

/// The observers of a context: the thread-local ones, and whether any observer is active. The
/// context owns the list.
struct carried_observers {
    observer_list* list = nullptr;
    bool enabled = true;
};
carried_observers observers_here() noexcept;

/// Makes this thread's context carry these observers and takes over the list's reference. Returns
/// the node, which the caller then holds. Returns 0 if memory is short; the reference then stays
/// with the caller.
std::uint32_t carry_observers(const carried_observers& next) noexcept;
/// If the node is the topmost one, removes it from the context, releases it and returns true. Else
/// does nothing and returns false.
bool stop_carrying(std::uint32_t node) noexcept;

/// Opens this thread's gate for observers if its context carries some. Called while any context of
/// the process does.
void look_for_carried_observers() noexcept;

}  // namespace coroscope::runtime::inline observers
