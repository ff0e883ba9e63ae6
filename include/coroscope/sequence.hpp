// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sequence numbers link the creation of deferred work to its execution (torch: sequence_nr and
// fwd_thread, which link an operation to its backward operation).
//
//   coroscope::record_function forward("aten::pow", coroscope::next_deferred());  // creates work
//   coroscope::deferred backward = coroscope::defer();          // keep it with the work
//   …
//   coroscope::record_function run("PowBackward0", backward);   // runs the work, on any thread
//
// Each thread has a sequence of its own. A range that creates work has the number that the thread
// assigns next, so all nested ranges of that kind have it. Exports draw an arrow from the latest of
// them to the range that runs the work.

#include <cstdint>

#include <coroscope/config.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope {

/// A place in a thread's sequence. A plain value; copies refer to the same work.
struct deferred {
    std::int64_t number = -1;  ///< from 0; -1: none
    /// Logical id of the thread that created the work; 0: this range creates it.
    std::uint64_t forward_thread = 0;
};

namespace detail {
COROSCOPE_API deferred take_sequence_number(bool take) noexcept;
}  // namespace detail

inline namespace COROSCOPE_ABI {

/// Returns the number that the next defer() on this thread will take. For the range that creates
/// the work.
inline deferred next_deferred() noexcept {
    return COROSCOPE_ENABLED == 0 ? deferred{} : detail::take_sequence_number(false);
}

/// Takes the thread's next number for created work. Costs a few instructions, whether or not a
/// session records.
inline deferred defer() noexcept {
    return COROSCOPE_ENABLED == 0 ? deferred{} : detail::take_sequence_number(true);
}

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
