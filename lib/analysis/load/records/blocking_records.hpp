// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes the calls that blocked a thread.

#include <cstdint>
#include <vector>

#include "clock_map.hpp"
#include <coroscope/analysis/model.hpp>
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::inline records {

struct blocking_records {
    std::vector<std::uint64_t> task_ids;  ///< by index into trace::blocking_calls, as it was read
    std::uint64_t malformed = 0;
};

/// Returns whether the fact is a blocking call.
bool is_blocking_call(const coroscope::trace::record_view& fact);

/// Appends to trace::blocking_calls and to `found`. Returns the moment at which the call ended.
std::int64_t read_blocking_call(const coroscope::trace::record_view& fact, std::uint32_t thread,
                                clock_map& clock, trace& loaded, blocking_records& found);

}  // namespace coroscope::analysis::inline records
