// SPDX-License-Identifier: Apache-2.0
#pragma once

// A row of `coroscope doctor`.

#include <cstdint>
#include <string>
#include <vector>

namespace coroscope::tools {

/// Whether the fact can be recorded. The output has the names of these values.
enum class fact_state : std::uint8_t { yes, partly, no, unknown };

struct fact {
    std::string name{};
    fact_state state = fact_state::unknown;
    std::string why{};
    std::string change{};    ///< the next step; empty if there is none
    bool essential = false;  ///< without it there is nothing to record
};

using facts = std::vector<fact>;

}  // namespace coroscope::tools
