// SPDX-License-Identifier: Apache-2.0
#pragma once

// end_of_service(): marks the moment at which a service begins to shut down. A task that is
// destroyed while it waits is abandoned, which may be a fault. After this mark it has ended with
// the service instead.
// Asio's tasks need no mark: an execution context that drops an operation is shutting down.

#include <coroscope/config.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope {
namespace detail {

COROSCOPE_API void mark_end_of_service() noexcept;

}  // namespace detail

inline namespace COROSCOPE_ABI {

/// Writes the mark into the trace of the session that records on this thread, if there is one. Call
/// it before the service destroys the tasks that still wait. Thread-safe.
inline void end_of_service() noexcept {
#if COROSCOPE_ENABLED
    detail::mark_end_of_service();
#endif
}

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
