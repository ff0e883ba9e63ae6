// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sentences about the sampling of requests.

#include <string>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline words {

/// Returns "12 of 96 requests in full; one of 8 of each type on each thread at the end; budget 1%,
/// estimated cost 0.84% in the last period; the interval changed 3 times: 1, 2, 4, 8".
/// Precondition: loaded.sampling.is_on().
[[nodiscard]] std::string sampling_text(const trace& loaded);

}  // namespace coroscope::analysis::inline words
