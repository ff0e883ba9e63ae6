// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a trace lost, as every view drawn from it says.

#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/model.hpp>

#include "json_writer.hpp"

namespace coroscope::analysis::render {

/// One line per thing that is missing from the trace; none for a healthy one.
[[nodiscard]] std::vector<std::string> health_notes(const trace_health& health);

/// One sentence where devices were to be recorded and were not, or not wholly; else empty.
[[nodiscard]] std::string device_note(const trace_health& health);

/// "recorded", "not recorded", "not asked for".
[[nodiscard]] std::string_view device_state(const trace_health& health) noexcept;

/// The same lines, each ended by a newline.
[[nodiscard]] std::string health_text(const trace_health& health);

/// A member "health" with every count.
void write_health(json_writer& json, const trace_health& health);

}  // namespace coroscope::analysis::render
