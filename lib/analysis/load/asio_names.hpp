// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names for what Asio does not name: it knows neither the coroutine that co_spawn starts nor the line
// that awaits an operation.

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::loading {

/// Gives each Asio task that came from co_spawn (or from before the session), and each fiber of unknown
/// origin, the site of the first
/// function scope that it ran as its spawn site, and each await of an Asio task the label of the
/// innermost await scope around it. What has none keeps the operation's name.
void name_asio_tasks(trace& loaded);

}  // namespace coroscope::analysis::loading
