// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the place of a scope: the thread's stack, a fiber's stack, the frame of the running task,
// or elsewhere. For the calling thread only.

#include <cstdint>

#include <coroscope/detail/task_state.hpp>
#include <coroscope/fiber.hpp>
#include <coroscope/trace/format.hpp>

#include "../tasks/frames.hpp"
#include "../tasks/stacks.hpp"
#include "../writer/recorder.hpp"

namespace coroscope::detail {

// A library may switch stacks without telling us. The task that it left may be destroyed already,
// and must not be dereferenced. So a task's state is read only if it is so close to the address
// that the address may be in its frame. The states of Asio's tasks are elsewhere; those tasks run
// under one of Asio's handlers.
inline bool may_be_in_frame(const task_state& task, const void* address) noexcept {
    constexpr std::uintptr_t furthest_behind = frame_offset_limit;
    constexpr std::uintptr_t furthest_ahead = frame_bytes_limit;
    const auto distance =
        reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(&task);
    return distance + furthest_behind < furthest_behind + furthest_ahead ||
           this_thread.invocation != nullptr;
}

/// Returns whether the address is in the running task's frame, or cannot be distinguished from one
/// that is. A scope at such an address belongs to the task, even if the task was suspended
/// meanwhile.
inline bool in_running_frame(const void* address) noexcept {
    const task_state* frame = this_thread.frame;
    if (frame == nullptr || !may_be_in_frame(*frame, address) ||
        frame->task != runtime::task_of(this_thread.mark))
        return false;
    if ((frame->flags & task_any_frame) != 0) return true;
    const auto offset = reinterpret_cast<std::uintptr_t>(address) -
                        reinterpret_cast<std::uintptr_t>(frame_address(*frame));
    return frame_address(*frame) != nullptr && offset < frame_bytes(*frame);
}

/// Returns whether a task runs on this thread and no other context is installed on top of it.
inline bool in_slice() noexcept {
    return this_thread.frame != nullptr &&
           this_thread.frame->task == runtime::task_of(this_thread.mark);
}

/// The trace::scope_flags of a scope that ends now. One that began on the running fiber's stack
/// after its last switch ran on this thread throughout.
inline std::uint32_t frame_flags(const void* address, std::uint64_t start_ticks) noexcept {
    if (runtime::on_fiber_stack(address)) {
        if (start_ticks > this_thread.fiber->left_ticks) return 0;
        return trace::scope_in_frame | (in_slice() ? trace::scope_exact : 0U);
    }
    if (runtime::on_stack(address)) return 0;
    return trace::scope_in_frame | (in_running_frame(address) ? trace::scope_exact : 0U);
}

/// The flags of a scope that begins now. It is unknown whether a fiber will be switched while the
/// scope is open.
inline std::uint32_t flags_while_open(const void* address) noexcept {
    if (runtime::on_fiber_stack(address))
        return trace::scope_in_frame | (in_slice() ? trace::scope_exact : 0U);
    return frame_flags(address, 0);
}

}  // namespace coroscope::detail
