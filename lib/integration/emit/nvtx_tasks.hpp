// SPDX-License-Identifier: Apache-2.0
#pragma once

// emit_nvtx{{.tasks = true}}: tasks as ranges from their spawn to their end, with their slices on
// each thread.

#include <coroscope/integration/emitter.hpp>
#include <coroscope/observer.hpp>

namespace coroscope::nvtx {

/// If on, an emitter shows the tasks that are spawned from now on in the contexts whose scopes it
/// observes. If off, the emitter shows no tasks, and ends the ranges of those that it shows.
/// `handle` must be the handle of its observer.
void switch_tasks(bool on, const emit_options& options, observer_handle handle) noexcept;

}  // namespace coroscope::nvtx
