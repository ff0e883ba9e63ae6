// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes a part of a native trace as a native trace. Loading it gives the same as select_part() of
// the whole trace.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <coroscope/analysis/index_range.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Receives the next bytes of the part. Must return false if it could not write them; cut_trace()
/// then fails.
using cut_sink = std::function<bool(std::string_view)>;

struct cut_totals {
    std::uint64_t records = 0;  ///< of threads, before
    std::uint64_t kept_records = 0;
    std::uint64_t trace_bytes = 0;  ///< before; of a packed trace, before it was packed
    std::uint64_t cut_bytes = 0;    ///< after
};

/// Cuts out the time from `from_ns` to `to_ns` since the start of the trace; none: its start, its
/// end. Keeps the records of that time, all definitions, and what the state of tasks at `from_ns`
/// depends on. Needs memory for the result. Fails if the file cannot be read, is not a native
/// trace, is a part already, lost records or has damaged chunks, if no time lies between the two,
/// or if the sink fails. Thread-safe; calls are independent of each other.
[[nodiscard]] COROSCOPE_API result<cut_totals>
cut_trace(const std::string& path, optional_ns from_ns, optional_ns to_ns, const cut_sink& sink);

}  // namespace coroscope::analysis
