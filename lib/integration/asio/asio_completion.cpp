// SPDX-License-Identifier: Apache-2.0

// The completion of an operation of Asio: its handler runs, or is dropped.

#include <cerrno>

#include <coroscope/integration/asio.hpp>

#include "../../runtime/tasks/context.hpp"
#include "asio_check.hpp"
#include "asio_innermost.hpp"
#include "asio_tasks.hpp"

namespace coroscope::asio {

namespace {

bool carries_others(std::uint64_t carried) noexcept {
    return detail::carried_attributes(this_thread.carried) != detail::carried_attributes(carried);
}

void tell_carried(std::uint64_t carried, std::uint32_t flags) noexcept {
    if (!detail::is_recording()) return;
    const context_change under_way;
    detail::record_context({this_thread.mark, carried, nullptr}, current_task(), flags);
}

// Between these two calls the thread carries the attributes of an await, but runs no part of its
// task. The session records this like a context that is installed by hand.
void begin_carrying(std::uint64_t carried) noexcept {
    const bool changes = carries_others(carried);
    detail::rebind(carried);
    if (changes) tell_carried(carried, 0);
}
void end_carrying(std::uint64_t before) noexcept {
    const bool changes = carries_others(before);
    if (changes) tell_carried(before, trace::context_restored);
    detail::rebind(before);
    if (changes) repeat_carried(current_task(), before);
}

}  // namespace

void completion::begin() noexcept {
    this_thread.ending_service = false;
    settle();
    frame* const outer = this_thread.invocation;
    frame_.outer = outer == nullptr || outer->is(frame_outermost) ? nullptr : outer;
    this_thread.invocation = &frame_;
    if (stage_ == stage::plain) {
        stage_ = stage::plain_began;
        return;
    }
    stage_ = stage::began;
    if (handles_) {
        const std::uint64_t wake = frame_.wake;
        frame_.wake = 0;
        enter(handler_, wake, frame_.waker, executor_);
        frame_.waker = 0;
        frame_.state += frame_task;
    } else {
        carried_before_ = this_thread.carried;
        begin_carrying(carried_);
    }
}

// Handles an error of the operation. A wake by a reactor is kept. The expiry of a timer is not the
// wake if the timer was cancelled before.
void completion::fail(int error) noexcept {
    if (frame_.wake != 0 && (frame_.wake & wake_expiry) == 0) return;
    const bool handles = stage_ == stage::taken && handles_;
    const bool has_object =
        frame_.waker != 0 && (handles || frame_.whose.is(purpose_step | purpose_carrying));
    frame_.wake = error == ECANCELED && has_object ? wake_cancelled : 0;
}

void completion::end() noexcept { end_any(false); }

void completion::end_any(bool failed) noexcept {
    settle();
    this_thread.invocation = frame_.outer;
    this_thread.ending_service = ended_before_;
    const bool plain = stage_ == stage::plain_began;
    stage_ = stage::absent;
    if (plain) return;
    if (!handles_) {
        end_carrying(carried_before_);
        drop_carried(carried_);
        return;
    }
    if (failed && load_gate() != 0) detail::unseen_exception_leaves(handler_.task);
    if (load_gate() != 0)
        record_finish(handler_, now(), failed ? trace::finish_exception : 0U,
                      task_of(handler_.before.mark));
    detail::restore(handler_.before);
    drop_carried(handler_.carried);
}

void completion::drop() noexcept {
    const stage before = stage_;
    if (before == stage::plain_began || before == stage::began) return end_any(true);
    stage_ = stage::absent;
    this_thread.ending_service = ended_before_;
    if (before == stage::plain) return;
    if (handles_ && load_gate() != 0)
        record_finish(handler_, now(), trace::finish_cancelled | trace::finish_with_service,
                      current_task());
    drop_carried(handles_ ? handler_.carried : carried_);
}

}  // namespace coroscope::asio
