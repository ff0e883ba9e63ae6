// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace coroscope::analysis::inline compare {

/// Returns the number of standard errors that Student's t with these degrees of freedom exceeds
/// with probability `tail`. `tail` must be in (0, 0.5), `freedom` at least 1.
[[nodiscard]] double student_quantile(double tail, double freedom);

}  // namespace coroscope::analysis::inline compare
