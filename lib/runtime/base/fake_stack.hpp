// SPDX-License-Identifier: Apache-2.0
#pragma once

// AddressSanitizer may place a function's variables outside of the stack, to find uses after the
// return (detect_stack_use_after_return, on by default with clang). Scope objects are variables, so
// they may be outside of the stack, too. The check asks the program's sanitizer at run time,
// because the program may have one even if this library was compiled without.

#include <cstdint>

namespace coroscope::runtime::inline base {

/// Returns whether the program's sanitizer may place variables outside of the stack.
bool has_fake_stacks() noexcept;

/// Returns an address on the real stack of the function whose variable is at `address`. If
/// `address` is not that of a variable on a fake stack, returns it unchanged. The variable must
/// belong to a function that runs on the calling thread.
std::uintptr_t place_on_stack(const void* address) noexcept;

}  // namespace coroscope::runtime::inline base
