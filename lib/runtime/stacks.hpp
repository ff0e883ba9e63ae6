// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which stack something lives on, of those that the calling thread is known to run: its own, or its fiber's. Libraries
// switch stacks without telling anybody: such a one is neither.

namespace coroscope::runtime {

/// On the thread's own stack. False on a thread that is not registered.
bool on_stack(const void* address) noexcept;

/// On the stack of the fiber that runs here.
bool on_fiber_stack(const void* address) noexcept;

/// Does the caller, whose frame's address this is, run on either? Registers the thread if need be.
bool runs_on_known_stack(const void* frame) noexcept;

}  // namespace coroscope::runtime
