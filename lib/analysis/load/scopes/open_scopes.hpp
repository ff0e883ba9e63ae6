// SPDX-License-Identifier: Apache-2.0
#pragma once

// Scopes that had begun and not ended when the session stopped or the process died, as events up to
// the session's end.

#include <vector>

#include "../tasks/thread_timeline.hpp"
#include "scope_records.hpp"
#include "scope_texts.hpp"

namespace coroscope::analysis::inline scopes {

/// Adds each to the scopes of its thread's stream and counts them. All scopes must have been read:
/// an open scope that has a record, too, ended while the trace was read, and is left out.
void add_open_scopes(scope_texts& texts, const std::vector<timeline>& timelines,
                     const scope_context& context, std::vector<stream_scopes>& scopes);

}  // namespace coroscope::analysis::inline scopes
