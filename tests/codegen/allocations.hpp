// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts requests for memory to the C library: those of the program's operator new, which calls
// malloc, and those of the runtime, which calls mmap. Memory that malloc itself takes from the
// system is not counted in addition.

namespace allocations {

/// The count of this thread. A session's own threads have their own counts.
long so_far() noexcept;

}  // namespace allocations
