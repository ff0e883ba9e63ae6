// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes the losses of a trace, for every view of it.

#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/model.hpp>

#include "../text/json_writer.hpp"

namespace coroscope::analysis::inline words {

/// Returns one line for each kind of loss in the trace; none for a complete trace.
[[nodiscard]] std::vector<std::string> health_notes(const trace_health& health);

/// Returns a sentence if devices should have been recorded but were not, or only in part; else an
/// empty text.
[[nodiscard]] std::string device_note(const trace_health& health);

/// "recorded", "not recorded", "not asked for".
[[nodiscard]] std::string_view device_state(const trace_health& health) noexcept;

/// Returns the versions of Asio that the program tracks, such as "Asio 1.30.2"; empty if none.
[[nodiscard]] std::string asio_versions(const trace_health& health);

/// Returns the lines of health_notes(), each ended by a newline.
[[nodiscard]] std::string health_text(const trace_health& health);

/// Writes the member "health" with every count.
void write_health(json_writer& json, const trace_health& health);

}  // namespace coroscope::analysis::inline words
