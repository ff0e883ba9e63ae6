// SPDX-License-Identifier: Apache-2.0
#pragma once

// step_tracker: the process's count of steps, shared by all of its counting parts (torch:
// KinetoStepTracker). A training loop, an optimizer and a profiler may each call increment("me")
// once per step. The process's count is the largest count of any part, so parts that call
// increment() once per round count one step together.
//
// Thread-safe, for the whole process, with one lock. Observers are called under that lock: they may
// call the tracker, but they must not wait for another thread that does. Not for the hot path.

#include <cstdint>

#include <coroscope/detail/export.hpp>

namespace coroscope::step_tracker {

/// The result of increment().
struct step_count {
    std::int64_t step = -1;    ///< the process's count now
    std::int64_t delta = 0;    ///< the change of the count by this call
    const char* warning = "";  ///< a literal: the count jumped, or memory is short; else empty
};

/// The requester counts from the current step on. Names are compared by their text and copied.
COROSCOPE_API void init(const char* requester) noexcept;

/// The requester stops counting. Returns false if it did not count.
COROSCOPE_API bool erase(const char* requester) noexcept;

/// Counts `steps` steps of the requester. A new requester is initialised as by init(). A part that
/// counts elsewhere may report several steps at once. If the count moves by more than one, the
/// result has a warning.
COROSCOPE_API step_count increment(const char* requester, std::uint32_t steps = 1) noexcept;

/// Returns the count; -1 before the first step.
COROSCOPE_API std::int64_t current() noexcept;

/// Called when the count moves, with the new step and the difference.
using observer = void (*)(void* data, std::int64_t step, std::int64_t delta) noexcept;

/// Returns a handle for remove_observer, from 1; 0 if there are observer_limit observers already.
COROSCOPE_API int add_observer(observer called, void* data) noexcept;
/// Returns false if the handle identifies no observer. On return no other thread is calling it.
COROSCOPE_API bool remove_observer(int handle) noexcept;
/// The greatest number of observers.
inline constexpr int observer_limit = 16;

}  // namespace coroscope::step_tracker
