// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names tasks and awaits after their scopes, if they have no better name. Asio knows neither the
// coroutine that co_spawn starts nor the line that awaits an operation. An operand that only the
// promise of the coroutine can await reaches the promise without its label.

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline scopes {

/// A task or an await without a suitable scope keeps its name.
///
/// * An Asio task from co_spawn or from before the session, even if its coroutine named it, and a
///   fiber of unknown origin get the site of the first function scope that they ran as spawn site.
/// * An await of an Asio operation gets the site of the innermost await scope around it.
/// * Another await without a label gets the site of the await scope that was begun for it.
void take_names_from_scopes(trace& loaded);

}  // namespace coroscope::analysis::inline scopes
