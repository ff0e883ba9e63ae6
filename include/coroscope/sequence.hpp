// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sequence numbers: they tie the place that creates deferred work to the place that runs it (torch:
// sequence_nr and fwd_thread, which tie an operation to its backward).
//
//   coroscope::record_function forward("aten::pow", coroscope::next_deferred());   // here work is created
//   coroscope::deferred backward = coroscope::defer();             // keep it with the work
//   …
//   coroscope::record_function run("PowBackward0", backward);     // where the work runs, on any thread
//
// Each thread counts its own. A range that creates work carries the number that the thread gives next, so
// of nested ones all carry it; exports draw an arrow from the latest of them to the range that runs it.

#include <cstdint>

#include <coroscope/config.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope {

/// A place in a thread's sequence. A plain value; copies name the same work.
struct deferred {
    std::int64_t number = -1;  ///< from 0; -1: none
    std::uint64_t forward_thread =
        0;  ///< logical id of the thread that created the work; 0: here it is created
};

namespace detail {
COROSCOPE_API deferred take_sequence_number(bool take) noexcept;
}  // namespace detail

inline namespace COROSCOPE_ABI {

/// What the next defer() on this thread will number. For the range that creates the work.
inline deferred next_deferred() noexcept {
    return COROSCOPE_ENABLED == 0 ? deferred{} : detail::take_sequence_number(false);
}

/// Work was created: takes the thread's next number. A few instructions, whether anything records or not.
inline deferred defer() noexcept {
    return COROSCOPE_ENABLED == 0 ? deferred{} : detail::take_sequence_number(true);
}

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
