// SPDX-License-Identifier: Apache-2.0
#include "stacks.hpp"

#include <cstdint>

#include <coroscope/fiber.hpp>

#include "../base/fake_stack.hpp"
#include "../writer/recorder.hpp"

namespace coroscope::runtime::inline tasks {

bool on_stack(const void* address) noexcept {
    const thread_record* record = this_thread.record;
    return record != nullptr && place_on_stack(address) - record->stack_low < record->stack_bytes;
}

// If only the stack's end is known, the stack counts from this call on: all objects on a stack are
// above the frame of the last call.
[[gnu::noinline]] bool on_fiber_stack(const void* address) noexcept {
    const detail::fiber_state* fiber = this_thread.fiber;
    if (fiber == nullptr) return false;
    const std::uintptr_t place = place_on_stack(address);
    if (fiber->stack_low == 0 &&
        place < reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)))
        return false;
    return place - fiber->stack_low < fiber->stack_bytes;
}

bool runs_on_known_stack(const void* frame) noexcept {
    return register_thread(this_thread) != nullptr && (on_stack(frame) || on_fiber_stack(frame));
}

}  // namespace coroscope::runtime::inline tasks
