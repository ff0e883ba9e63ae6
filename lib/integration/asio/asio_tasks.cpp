// SPDX-License-Identifier: Apache-2.0
#include "asio_tasks.hpp"

#include "../../runtime/tasks/task_recording.hpp"
#include "asio_cancel.hpp"

namespace coroscope::asio {

namespace {

// `wake` must have wake_returned.
void fill_returned_wake(char* at, std::uint64_t wake, std::uint64_t waker, std::uint64_t task,
                        std::uint32_t executor) noexcept {
    const std::uint64_t thread = waker & detail::mark_thread_mask;
    fill_record(at, wake & ~wake_returned,
                make_tag(record_kind::wake, executor, thread | std::uint64_t{trace::wake_returned}),
                task, task_of(waker));
}

}  // namespace

void enter(tracked_task& entered, std::uint64_t wake, std::uint64_t waker, std::uint32_t executor,
           std::uint32_t flags) noexcept {
    entered.before = detail::current_resumer();
    // The task's session comes first and the task itself last: a chunk that the record opens must
    // name the work that ran before.
    if (this_thread.carried != entered.carried) detail::rebind(entered.carried);
    const std::int32_t gate = load_gate();
    if (may_track(gate)) show_running(entered.task);
    if (gate != 0) {
        const context_change under_way;
        const std::uint64_t ticks = now();
        if ((wake & wake_cancelled) != 0) {
            write_cancel_wakes(entered, waker);
            wake = 0;
        }
        if (char* at = reserve_for(entered)) {
            if (wake != 0) {
                at = take_reserved(at, long_record_bytes);
                (wake & (wake_expiry | wake_returned)) == wake_returned
                    ? fill_returned_wake(at, wake, waker, entered.task, executor)
                    : fill_wake(at, wake, waker, entered.task, executor);
                at += long_record_bytes;
            }
            write_record(at, ticks, make_tag(record_kind::resume, executor, flags), entered.task,
                         task_of(entered.before.mark));
        }
        repeat_carried(entered.task, entered.carried);
    }
    detail::set_flags(entered, detail::task_started | detail::task_installed, told_suspended);
    detail::install(mark_here(entered.task), entered.carried, &entered);
}

void record_finish(tracked_task& ended, std::uint64_t ticks, std::uint32_t flags,
                   std::uint64_t next) noexcept {
    if (may_track(load_gate())) show_end(ended);
    if ((load_gate() & detail::gate_task_table) != 0)
        drop_from_task_table(ended.task, ended.carried);
    if (char* at = reserve_for(ended))
        write_record(at, ticks, make_tag(record_kind::finish, 0, flags), ended.task, next);
}

void write_spawn(std::uint64_t task, std::uint16_t& announced, std::uint64_t ticks,
                 std::uint32_t site, std::uint32_t flags, std::uint64_t parent,
                 std::uint64_t carried) noexcept {
    if ((flags & trace::spawn_adopted) == 0 && may_track(load_gate()))
        show_spawned(task, parent, site);
    char* at = reserve();
    if (at == nullptr) return;
    announced = static_cast<std::uint16_t>(this_thread.bound_session);
    write_record(at, ticks, make_tag(record_kind::spawn, site, flags | trace::spawn_asio), task,
                 parent);
    record_carried(task, carried);
    if ((load_gate() & detail::gate_task_table) != 0)
        keep_in_task_table({task, ticks, parent, site, flags | trace::spawn_asio});
}

}  // namespace coroscope::asio
