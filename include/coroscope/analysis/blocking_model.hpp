// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of the model about calls of the C library that blocked their thread.

#include <cstdint>

#include <coroscope/analysis/index_range.hpp>
#include <coroscope/trace/blocking_format.hpp>

namespace coroscope::analysis {

/// One call, at least as long as the session's threshold. A call may contain another one, for
/// example of a signal handler.
struct blocking_call {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t thread = none;  ///< index into trace::threads
    std::uint32_t task = none;    ///< that ran on the thread: index into trace::tasks
    std::uint32_t scope = none;   ///< innermost open scope: index into trace::events
    coroscope::trace::blocked_function function = coroscope::trace::blocked_function::unknown;
    coroscope::trace::descriptor_kind descriptor = coroscope::trace::descriptor_kind::none;
};

}  // namespace coroscope::analysis
