// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs an attempt in a process of its own. A seccomp filter may end the process that makes a system
// call, and a call may not return: a library's start, a file system over a network.

#include <chrono>
#include <cstddef>
#include <type_traits>

#include "readings.hpp"

namespace coroscope::tools {

/// Calls `attempt(memory)` in a child, which then passes on `bytes` of that memory. Ends the child
/// after `patience`. The process must have one thread.
[[nodiscard]] child_end run_in_child(void (*attempt)(void*), void* memory, std::size_t bytes,
                                     std::chrono::milliseconds patience);

template <class Found>
[[nodiscard]] tried<Found> in_child(void (*attempt)(Found&), std::chrono::milliseconds patience) {
    static_assert(std::is_trivially_copyable_v<Found>);
    struct call {
        Found found;  // first: the part that is passed on
        void (*attempt)(Found&);
    };
    call made{{}, attempt};
    const auto start = [](void* memory) {
        auto& inside = *static_cast<call*>(memory);
        inside.attempt(inside.found);
    };
    const child_end end = run_in_child(start, &made, sizeof(Found), patience);
    return {end, made.found};
}

}  // namespace coroscope::tools
