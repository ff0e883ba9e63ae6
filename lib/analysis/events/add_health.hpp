// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroscope/analysis/trace_health.hpp>

namespace coroscope::analysis::inline events {

/// Adds the losses and warnings of `more`, a trace of another process or of another cycle. Of
/// states that exclude each other the worse one is kept.
void add_health(trace_health& all, const trace_health& more);

}  // namespace coroscope::analysis::inline events
