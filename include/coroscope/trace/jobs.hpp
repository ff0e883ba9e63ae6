// SPDX-License-Identifier: Apache-2.0
#pragma once

// Divides work among threads. The parts of the work must not depend on each other; so the results
// do not depend on the number of threads.

#include <cstddef>

#include <coroscope/detail/export.hpp>

namespace coroscope::trace {

/// The number of processors on which the calling thread may run; at least 1. Thread-safe.
[[nodiscard]] COROSCOPE_API unsigned usable_processors() noexcept;

/// Calls `call(work, part)` once for each part from 0 to `parts` - 1, on the calling thread and up
/// to `jobs` - 1 others. `jobs` 0 means usable_processors(). If the system refuses a thread, the
/// others do its parts. Returns when all calls have returned. If a call throws, parts that have not
/// begun are left out, and the first exception is thrown again. Thread-safe.
COROSCOPE_API void run_parts(unsigned jobs, std::size_t parts,
                             void (*call)(const void* work, std::size_t part), const void* work);

/// Calls `work(part)` for each part, as run_parts() does. Calls may run at the same time.
template <class Work>
void in_parallel(unsigned jobs, std::size_t parts, const Work& work) {
    trace::run_parts(
        jobs, parts,
        [](const void* each, std::size_t part) { (*static_cast<const Work*>(each))(part); }, &work);
}

}  // namespace coroscope::trace
