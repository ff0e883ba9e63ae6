// SPDX-License-Identifier: Apache-2.0
#include "asio_innermost.hpp"

#include <new>

namespace coroscope::runtime {

/// A thread's outermost frame: its activity outside every handler of Asio's. It is made at its
/// first use and freed by the thread's record.
struct outermost_frame : detail::handler_frame, own_memory {};

}  // namespace coroscope::runtime

namespace coroscope::asio {

namespace {

void drop_outermost(thread_record& record) noexcept {
    if (this_thread.invocation == record.outermost) this_thread.invocation = nullptr;
    delete record.outermost;
    record.outermost = nullptr;
}

}  // namespace

frame* innermost::find_outermost() noexcept {
    detail::thread_record* const record = register_thread(this_thread);
    if (record != nullptr && record->outermost == nullptr) {
        record->drop_outermost = drop_outermost;
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
