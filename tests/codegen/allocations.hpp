// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts what asks the C library for memory: the program's operator new, which calls malloc, and the runtime, which goes
// past it. Memory that malloc itself takes from the system is not counted beside it.

namespace allocations {

/// Of this thread: those of a session's own threads don't count.
long so_far() noexcept;

}  // namespace allocations
