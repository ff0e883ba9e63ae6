// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names for what nobody else names. Asio knows neither the coroutine that co_spawn starts nor the line that awaits an
// operation; an operand that only the coroutine's promise understands reaches it without its label.

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::loading {

/// Gives each Asio task that came from co_spawn (or from before the session), and each fiber of unknown
/// origin, the site of the first
/// function scope that it ran as its spawn site; each await of an Asio task the label of the
/// innermost await scope around it; and each await of another task that has no label that of the await scope that was
/// begun for it. What has none keeps its name.
void take_names_from_scopes(trace& loaded);

}  // namespace coroscope::analysis::loading
