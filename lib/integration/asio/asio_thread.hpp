// SPDX-License-Identifier: Apache-2.0
#pragma once

// A thread's activity for Asio: the tasks that run in its frames, and their suspensions.

#include <cstdint>

#include <coroscope/integration/asio.hpp>

#include "../../runtime/carried/attribute.hpp"
#include "../../runtime/carried/attribute_nodes.hpp"
#include "../../runtime/tasks/frames.hpp"
#include "../../runtime/tasks/live_transitions.hpp"
#include "../../runtime/writer/recorder.hpp"

namespace coroscope::asio {

using namespace runtime;
using detail::load_gate;

/// Sets the members that a suspension on the short path left out.
void spell_out(frame& inside) noexcept;

/// One more task runs in the frame from now on. `plain`: as for frame_plain_task.
inline void add_task(frame& inside, bool plain) noexcept {
    if (!inside.runs_task())
        inside.state = (inside.state & ~std::uint32_t{frame_plain_task}) |
                       (plain ? std::uint32_t{frame_plain_task} : 0U);
    inside.state += frame_task;
}
inline void remove_task(frame& inside) noexcept {
    if (inside.runs_task()) inside.state -= frame_task;
    if (!inside.runs_task()) inside.state &= ~std::uint32_t{frame_plain_task};
}

/// Copies the await that a frame serves, without the suspension if there is none.
inline void copy_awaiting(awaiting& to, const awaiting& from) noexcept {
    to.whose = from.whose;
    to.suspends = from.suspends;
    if (from.has_begun()) [[unlikely]]
        to.begun = from.begun;
}

inline std::uint64_t current_task() noexcept { return task_of(this_thread.mark); }

/// Returns a mark of the given task on this thread.
inline std::uint64_t mark_here(std::uint64_t task) noexcept {
    return task << trace::mark_thread_bits | (this_thread.mark & detail::mark_thread_mask);
}

/// Records the suspension that has begun in the frame, at this site, on the object of that number.
/// The thread goes on with its previous context.
void end_suspension(frame& inside, std::uint32_t site, std::uint32_t object = 0) noexcept;

/// As above, at the site of the operation that is probably awaited.
void settle_suspension(frame& inside) noexcept;
inline void settle(frame& inside) noexcept {
    if (inside.suspends()) [[unlikely]]
        settle_suspension(inside);
}
/// As above, in the innermost frame. A frame that was never made has no suspension.
inline void settle() noexcept {
    if (this_thread.invocation != nullptr) settle(*this_thread.invocation);
}

}  // namespace coroscope::asio
