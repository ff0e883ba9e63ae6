// SPDX-License-Identifier: Apache-2.0

// The stretches of source that start an operation, and the await that is being started there.

#include <coroscope/integration/asio.hpp>

#include "asio_innermost.hpp"
#include "asio_thread.hpp"

namespace coroscope::asio {

void location::enter() noexcept {
    frame& inside = *this_thread.invocation;
    entered_ = inside.is(frame_begins_nested) ? await_start::nested : await_start::plain;
    inside.state &= ~(frame_begins | frame_begins_nested);
    if (entered_ == await_start::plain) return;
    ++inside.starting;
    copy_awaiting(before_, inside.before);
}

void location::leave() noexcept {
    const innermost inside;
    if (entered_ == await_start::plain) before_ = {};
    const bool same = before_.suspends && inside->begun.task == before_.begun.task;
    if (!same) settle(*inside);
    if (before_.has_begun()) [[unlikely]]
        inside->begun = before_.begun;
    if (before_.suspends) [[unlikely]]
        inside->state |= frame_suspends;
    if (entered_ == await_start::nested) --inside->starting;
    inside->whose = before_.whose;
}

purpose current_await() noexcept {
    const innermost inside;
    const bool awaits = inside->whose.is(purpose_initiating) || !inside->runs_task();
    const bool told = !inside->is(frame_outermost) || inside->starting != 0;
    return awaits && told ? inside->whose : purpose{};
}

await_step::await_step(const purpose& of) noexcept {
    const innermost inside;
    const bool carries = detail::carried_attributes(of.carried) != 0;
    before_ = inside->whose;
    inside->whose = {of.task, of.carried,
                     purpose::make(of.serial(), carries ? purpose_carrying : purpose_step)};
    ++inside->starting;
}

await_step::~await_step() {
    const innermost inside;
    --inside->starting;
    inside->whose = before_;
}

std::uint64_t suspending_task() noexcept {
    const frame* const inside = this_thread.invocation;
    if (inside == nullptr || !inside->suspends() || inside->begun.ticks == 0) return 0;
    return inside->is(frame_suspends_plain) ? inside->whose.task : inside->begun.task;
}

}  // namespace coroscope::asio
