// SPDX-License-Identifier: Apache-2.0
#pragma once

// The way out of a function's frame, from the unwind tables that compilers write for exceptions.

#include <cstdint>

namespace coroscope::runtime::inline calls {

/// The register from which a frame's end is found.
enum class frame_base : std::uint8_t { stack_pointer, frame_pointer };

/// A function's frame while the function calls another one. The frame ends behind its return
/// address. The stack pointer is that after the return from the call.
struct frame_rule {
    std::int64_t size = 0;   ///< bytes from the register's value to the frame's end
    std::int64_t saved = 0;  ///< the caller's frame pointer is at the frame's end plus this number;
                             ///< 0: it is still in the register
    frame_base from = frame_base::stack_pointer;
};

/// Finds the rule for the function that goes on at that return address. Returns false if there is
/// none, or none of this form. Takes the lock of the dynamic loader. Not async-signal-safe.
bool find_frame_rule(std::uintptr_t return_address, frame_rule& found) noexcept;

}  // namespace coroscope::runtime::inline calls
