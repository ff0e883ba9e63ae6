// SPDX-License-Identifier: Apache-2.0
#pragma once

// emit_nvtx{{.tasks = true}}: tasks as ranges from their spawn to their end, and on each thread what it runs of them.

#include <coroscope/integration/emitter.hpp>
#include <coroscope/observer.hpp>

namespace coroscope::nvtx {

/// An emitter shows the tasks that are spawned from here on where it sees scopes; or shows none any more: those that
/// are shown end here. `handle` is its observer's.
void switch_tasks(bool on, const emit_options& options, observer_handle handle) noexcept;

}  // namespace coroscope::nvtx
