// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace coroscope::runtime::inline base {

/// Makes the calling thread's earlier stores visible to code that runs later on the same thread: a
/// signal handler, or the program's own malloc and operator new. It emits no instruction, and
/// orders nothing between threads.
///
/// A fence is not enough. Compilers assume that an allocation reads no memory of the program, and
/// clang moves past a signal fence: it removes a store that a later store overwrites.
[[gnu::always_inline]] inline void compiler_barrier() noexcept {
    __asm__ volatile("" : : : "memory");
}

}  // namespace coroscope::runtime::inline base
