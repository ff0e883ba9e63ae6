// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether an address is on a stack that the calling thread is known to use: its own stack or its
// fiber's. Libraries may switch stacks without notice. Addresses on such a stack are on neither.

namespace coroscope::runtime::inline tasks {

/// Returns whether `address` is on the thread's own stack. False if the thread is not registered.
bool on_stack(const void* address) noexcept;

/// Returns whether `address` is on the stack of the fiber that runs on this thread.
bool on_fiber_stack(const void* address) noexcept;

/// Returns whether `frame`, the address of the caller's frame, is on either stack. Registers the
/// thread if necessary.
bool runs_on_known_stack(const void* frame) noexcept;

}  // namespace coroscope::runtime::inline tasks
