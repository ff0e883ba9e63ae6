// SPDX-License-Identifier: Apache-2.0
#pragma once

// The patterns in the flows of all requests: repeated calls, polling, retries, rows of calls.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "request_flow.hpp"
#include "rule_test.hpp"

namespace coroscope::analysis::inline checks {

/// The requests with one pattern at one place.
struct flow_pattern {
    victim_sums victims;
    evidence_list evidence;
    finding_place cause;
    place_sums longest;       ///< of a row, the time of its calls by place
    finding_place other;      ///< of a retry, the back-off or the call
    std::uint64_t steps = 0;  ///< of all these requests
    std::int64_t steps_ns = 0;
    std::uint64_t failed = 0;      ///< steps that ended with a failure
    std::vector<std::string> row;  ///< the names of a row of calls
    std::uint64_t of_type = 0;     ///< the number of all requests of the type
};

struct flow_patterns {
    std::map<std::uint32_t, flow_pattern> repeated;  ///< by place
    std::map<std::uint32_t, flow_pattern> polling;
    std::map<std::uint32_t, flow_pattern> retries;
    std::map<std::vector<std::uint32_t>, flow_pattern> rows;  ///< by places
};

[[nodiscard]] flow_patterns flow_patterns_of(check_input& input);

}  // namespace coroscope::analysis::inline checks
