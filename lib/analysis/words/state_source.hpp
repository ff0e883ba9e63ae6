// SPDX-License-Identifier: Apache-2.0
#pragma once

// The source of the states of threads, in words.

#include <string>
#include <string_view>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline words {

/// "each context switch", "samples (reason)", "not recorded (reason)" or "not asked for".
[[nodiscard]] std::string state_source_text(const thread_states& states);

/// For programs: "switches", "samples", "refused" or "none".
[[nodiscard]] std::string_view state_source_name(const thread_states& states) noexcept;

}  // namespace coroscope::analysis::inline words
