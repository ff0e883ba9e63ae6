// SPDX-License-Identifier: Apache-2.0
#pragma once

// Folds tasks that a view should not show into the tasks around them. If a library's coroutine type
// is instrumented, the library's own coroutines (when_all's, sync_wait's) are tasks, too, and come
// between the program's tasks.
//
// The options choose a task by its spawn site's label. For a coroutine the label is the qualified
// name of its function. A pattern must match the whole label: '*' matches any characters, '?'
// matches one.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// A pattern for the coroutines that a library implements.
struct library_coroutines {
    std::string_view pattern;
    std::string_view library;
};

/// The known libraries; some have several patterns.
[[nodiscard]] COROSCOPE_API std::span<const library_coroutines> known_library_coroutines();

/// The choice of the tasks to fold.
struct fold_options {
    bool libraries = true;                ///< fold known_library_coroutines()
    std::vector<std::string> patterns{};  ///< also fold tasks whose label matches one
};

/// Returns the trace without the tasks that the options choose, and without the slices and awaits
/// of these tasks. Each reference to a folded task is replaced:
/// - as a parent: by its parent;
/// - as an awaiter: by its awaiter;
/// - as the task of a scope, a stream or a device's work: by its awaiter, else by its parent;
/// - as the awaited task: by the task that it awaited longest;
/// - as a waker: by the task that woke it last.
///
/// If the replacement is folded, too, it is replaced in the same way. If there is none, the
/// reference is `none`. A chosen task stays if it has scopes that no shown task would get.
///
/// The folded_* members of trace_health have the number of the folded tasks, their running time and
/// their queued time. Their suspended and waiting time is part of the suspended time of their
/// awaiters. Other figures do not change. Thread-safe.
[[nodiscard]] COROSCOPE_API trace fold_tasks(trace loaded, const fold_options& options = {});

}  // namespace coroscope::analysis
