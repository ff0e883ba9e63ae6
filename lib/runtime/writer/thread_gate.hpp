// SPDX-License-Identifier: Apache-2.0
#pragma once

// Opens and closes the gate of a thread when the session of its context changes.

#include "registry.hpp"

namespace coroscope::runtime::inline writer {

/// Sets the thread's gate and cursor for the session of its context. Lock-free.
void update_gate(thread_state& thread) noexcept;

}  // namespace coroscope::runtime::inline writer
