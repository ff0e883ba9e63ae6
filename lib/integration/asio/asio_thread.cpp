// SPDX-License-Identifier: Apache-2.0
#include "asio_thread.hpp"

#include "asio_operations.hpp"

namespace coroscope::asio {

void spell_out(frame& inside) noexcept {
    inside.begun.before.carried = inside.whose.carried;
    inside.begun.task = inside.whose.task;
    inside.begun.serial = inside.whose.serial();
    inside.state ^= frame_suspends_plain | frame_suspends;
}

void settle_suspension(frame& inside) noexcept {
    if (inside.is(frame_suspends_plain)) spell_out(inside);
    const suspension& ended = inside.begun;
    if (load_gate() == 0) return end_suspension(inside, 0);
    if (ended.operation == nullptr)
        return end_suspension(inside, operation_site("", "co_await", ended.location));
    end_suspension(inside, operation_site(ended.type, ended.operation, ended.location),
                   ended.object);
}

void end_suspension(frame& inside, std::uint32_t site, std::uint32_t object) noexcept {
    inside.state &= ~std::uint32_t{frame_suspends};
    const suspension& ended = inside.begun;
    const std::int32_t gate = load_gate();
    if (gate != 0 && ended.ticks != 0)
        if (char* at = reserve())
            write_record(at, ended.ticks, make_tag(record_kind::suspend, site, object), ended.task,
                         task_of(ended.before.mark));
    if (gate != 0) repeat_carried(task_of(ended.before.mark), ended.before.carried);
    if (may_track(gate)) show_suspended(ended.task, site);
    detail::restore(ended.before);
}

}  // namespace coroscope::asio
