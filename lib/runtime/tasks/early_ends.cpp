// SPDX-License-Identifier: Apache-2.0

// The ends of tasks that do not return: a suspended coroutine is cancelled or destroyed.

#include <coroscope/detail/task_transitions.hpp>

#include "../carried/attribute_nodes.hpp"
#include "../writer/recorder.hpp"
#include "frames.hpp"
#include "general_transitions.hpp"
#include "live_transitions.hpp"
#include "task_recording.hpp"
#include "unwinding.hpp"

namespace coroscope::detail {

using namespace runtime;

void cancel_active(task_state& task, const resumer& before) noexcept {
    task.before = before;
    install_task(task);
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show(task, async_state::running, task.await_site);
    if (is_recording(gate)) record_cancel(task);
}

void destroy_active(task_state& task) noexcept {
    know(task);
    if (task.task == 0) task.task = new_task_id();
    if (may_track(load_gate())) [[unlikely]]
        show_end(task);
    record_destroyed(task);
    drop_carried(task.carried);
    // The thread has left a suspended task already, or will leave it when the await_suspend that
    // destroys the task returns.
    if (this_thread.frame == &task && (task.flags & task_installed) != 0) restore(task.before);
}

void destroy_task(task_state& task) noexcept {
    set_flags(task, 0, task_spawned);
    if (is_active(task) && !is_unwound(task)) destroy_active(task);
}

}  // namespace coroscope::detail
