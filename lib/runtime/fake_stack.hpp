// SPDX-License-Identifier: Apache-2.0
#pragma once

// AddressSanitizer may keep a function's variables elsewhere than on its stack, to find who uses them after it
// has returned (detect_stack_use_after_return, which clang's has on unless it is told otherwise). Scopes lie there, too.
// It is the program's affair, however this library was compiled.

#include <cstdint>

namespace coroscope::runtime {

/// Does this program's sanitizer do so?
bool has_fake_stacks() noexcept;

/// Where on its thread's or fiber's stack the function stands whose variable this is; any other address as it is.
/// For what the running thread's functions hold.
std::uintptr_t place_on_stack(const void* address) noexcept;

}  // namespace coroscope::runtime
