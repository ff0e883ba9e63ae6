// SPDX-License-Identifier: Apache-2.0
#pragma once

// A wall time in a sentence.

#include <cstdint>
#include <string>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::render {

/// "12.3 ms = 0.4 ms running + 11.0 ms suspended + 0.6 ms queued + 0.3 ms waiting". Beside time that was waited where
/// nobody saw the wake, a suspended or queued part of which nothing was seen is unknown, and left out.
[[nodiscard]] std::string split_text(std::int64_t wall_ns, const time_split& time);

}  // namespace coroscope::analysis::render
