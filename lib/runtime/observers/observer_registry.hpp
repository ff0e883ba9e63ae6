// SPDX-License-Identifier: Apache-2.0
#pragma once

// The registered observers, and the list of the global observers.
//
// registry_mutex() guards registration; no code of the program runs under that lock.

#include <cstdint>

#include <coroscope/observer.hpp>

#include "observer_list.hpp"

namespace coroscope {

/// Gives the runtime access to the private members of an observer that is being registered.
struct observer_access {
    static detail::observer_calls*& calls(observer& of) noexcept { return of.calls_; }
    static detail::observer_options& options(observer& of) noexcept { return of.options_; }
    static const char*& message(observer& of) noexcept { return of.message_; }
};

}  // namespace coroscope

namespace coroscope::runtime::inline observers {

/// Returns a number that rises with each change of the global list or of the sampling seed. An
/// acquire load: pairs with the change.
std::uint64_t observer_version() noexcept;
/// Returns the global list, which the caller must release, and stores its version in `version`.
observer_list* global_observers(std::uint64_t& version) noexcept;
/// Returns the seed of all threads' generators; 0: each thread has a seed of its own.
std::uint64_t sampling_seed() noexcept;

/// Clears the thread's gate bit for observers, unless an observer was registered meanwhile.
void close_observer_gate() noexcept;

/// Returns whether an observer of this thread's work was registered with holds_profiler_slot.
bool observer_holds_slot() noexcept;

}  // namespace coroscope::runtime::inline observers
