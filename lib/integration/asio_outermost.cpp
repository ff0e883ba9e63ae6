// SPDX-License-Identifier: Apache-2.0

// The outermost frame: what a thread, or a stack, does outside every handler of Asio's.

#include <new>

#include "asio_operations.hpp"

namespace coroscope::asio {

frame* innermost::find_outermost() noexcept {
    detail::thread_record* const record = register_thread(this_thread);
    if (record != nullptr && record->outermost == nullptr) {
        record->outermost = new (std::nothrow) outermost_frame{};
        if (record->outermost != nullptr) record->outermost->state = frame_outermost;
    }
    if (record == nullptr || record->outermost == nullptr) {
        new (&stand_in_) frame{};
        stand_in_.state = frame_outermost;
        return &stand_in_;
    }
    return this_thread.invocation = record->outermost;
}

void innermost::forget() noexcept {
    if (stand_in_.suspends()) end_suspension(stand_in_, 0);
}

}  // namespace coroscope::asio

namespace coroscope::detail {

// The outermost frame is the thread's; a stack that is in none of its handlers says so.
void swap_stack_place(stack_place& place) noexcept {
    asio::settle();
    asio::frame* const before = this_thread.invocation;
    const bool outside = before == nullptr || before->is(asio::frame_outermost);
    this_thread.invocation = static_cast<asio::frame*>(place.words[0]);
    place.words[0] = outside ? nullptr : before;
}

}  // namespace coroscope::detail

namespace coroscope::runtime {

void drop_outermost(thread_record& record) noexcept {
    if (this_thread.invocation == record.outermost) this_thread.invocation = nullptr;
    delete record.outermost;
    record.outermost = nullptr;
}

}  // namespace coroscope::runtime
