// SPDX-License-Identifier: Apache-2.0
#pragma once

// Guesses the requests of a program that marks none.

#include <cstdint>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline answers {

/// Returns whether the scope or the task was recorded from its begin to its end.
[[nodiscard]] bool ended_well(const event& scope) noexcept;
[[nodiscard]] bool ended_well(const task_info& task) noexcept;

/// Returns the site of the function whose calls are most like requests, or none.
[[nodiscard]] std::uint32_t guess_request_site(const trace& loaded);

}  // namespace coroscope::analysis::inline answers
