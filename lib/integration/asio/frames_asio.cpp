// SPDX-License-Identifier: Apache-2.0

// Asio's part of a stack, which frames.hpp of the runtime declares.

#include "../../runtime/tasks/frames.hpp"

#include "asio_thread.hpp"

namespace coroscope::detail {

// Exchanges the thread's innermost frame with the one stored for a stack. The outermost frame
// belongs to the thread, so a stack that runs no handler stores null.
void swap_stack_place(stack_place& place) noexcept {
    asio::settle();
    asio::frame* const before = this_thread.invocation;
    const bool outside = before == nullptr || before->is(asio::frame_outermost);
    this_thread.invocation = static_cast<asio::frame*>(place.words[0]);
    place.words[0] = outside ? nullptr : before;
}

}  // namespace coroscope::detail
