// SPDX-License-Identifier: Apache-2.0
#pragma once

// step_tracker: the process's count of steps, however many parts of it count them (torch:
// KinetoStepTracker). A training loop, an optimizer and a profiler may each call increment("me") once
// per step; the count is the largest of theirs, so that two who step together count one step.
//
// Process-wide and thread-safe; one lock, which observers are called under: they may call the tracker,
// but must not wait for another thread that does. Not of the hot path.

#include <cstdint>

#include <coroscope/detail/export.hpp>

namespace coroscope::step_tracker {

struct step_count {
    std::int64_t step = -1;    ///< the process's count now
    std::int64_t delta = 0;    ///< by how much this call moved it
    const char* warning = "";  ///< a literal: the count leapt, or memory is short; else empty
};

/// The requester counts from the current step on. Names are compared by their text and copied.
COROSCOPE_API void init(const char* requester) noexcept;

/// The requester counts no more. False where it did not.
COROSCOPE_API bool erase(const char* requester) noexcept;

/// One step of the requester, which is made by init() where it is new. Whoever counts elsewhere may tell
/// several at once; a count that moves by more than one comes with a warning.
COROSCOPE_API step_count increment(const char* requester, std::uint32_t steps = 1) noexcept;

/// -1 before the first step.
COROSCOPE_API std::int64_t current() noexcept;

/// Called when the count moves: to which step, and by how many.
using observer = void (*)(void* data, std::int64_t step, std::int64_t delta) noexcept;

/// A handle for remove_observer, from 1; 0 where there are observer_limit already.
COROSCOPE_API int add_observer(observer called, void* data) noexcept;
COROSCOPE_API bool remove_observer(int handle) noexcept;
inline constexpr int observer_limit = 16;

}  // namespace coroscope::step_tracker
