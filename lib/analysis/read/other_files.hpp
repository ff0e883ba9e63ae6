// SPDX-License-Identifier: Apache-2.0
#pragma once

// Recognises files that are mistaken for traces at times, by their first bytes.

#include <string_view>

namespace coroscope::analysis::inline reading {

/// Returns a message that says what kind of file begins with `first`, and what to do instead. Empty
/// if the kind is unknown.
[[nodiscard]] std::string_view why_not_a_trace(std::string_view first);

}  // namespace coroscope::analysis::inline reading
