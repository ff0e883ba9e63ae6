// SPDX-License-Identifier: Apache-2.0
#include "left_out.hpp"

#include "../writer/recorder.hpp"
#include "../writer/session_table.hpp"
#include "overdue_resumes.hpp"

namespace coroscope::detail {
namespace {

using namespace runtime;

// Writes a suspension or a resumption of the running task, with the task on top of which it runs (0
// if that is unknown).
void write_move(record_kind kind, std::uint32_t site, std::uint64_t task) noexcept {
    const task_state* frame = this_thread.frame;
    const bool runs =
        frame != nullptr && frame->task == task && (frame->flags & task_installed) != 0;
    const std::uint64_t other = runs ? task_of(frame->before.mark) : 0;
    const std::uint64_t ticks = now();
    if (char* at = reserve()) write_record(at, ticks, make_tag(kind, site, 0), task, other);
}

// Returns whether `session` is that of a context that is left out, and the session knows the task.
bool is_known_to(const task_state& task, std::uint32_t session) noexcept {
    const auto number = static_cast<std::uint16_t>(session_generation(session));
    const std::uint16_t announced =
        may_be_overdue(task) ? task.announced ^ hidden_session : task.announced;
    return (session & left_out_request) != 0 && announced == number;
}

}  // namespace

void carry_session(std::uint32_t session) noexcept {
    rebind(make_carried(session, carried_attributes(this_thread.carried)));
}

void leave_record(std::uint32_t generation, std::uint32_t site) noexcept {
    const std::uint64_t task = task_of(this_thread.mark);
    if (site != 0 && task != 0) write_move(record_kind::suspend, site, task);
    carry_session(generation | left_out_request);
}

void return_to_record(bool suspended) noexcept {
    carry_session(outside_requests(carried_session(this_thread.carried)));
    const std::uint64_t task = task_of(this_thread.mark);
    if (suspended && task != 0 && is_recording()) write_move(record_kind::resume, 0, task);
}

void return_at_end(const task_state& task) noexcept {
    const bool runs_here = (task.flags & task_installed) != 0 && this_thread.frame == &task;
    if (runs_here && is_known_to(task, carried_session(this_thread.carried)))
        return_to_record(true);
}

bool is_known_before() noexcept {
    const task_state* frame = this_thread.frame;
    return frame != nullptr && frame->task == task_of(this_thread.mark) &&
           is_known_to(*frame, carried_session(this_thread.carried));
}

std::uint32_t session_of_end(const task_state& task, std::uint64_t carried) noexcept {
    const std::uint32_t session = carried_session(carried);
    return is_known_to(task, session) ? outside_requests(session) : session;
}

}  // namespace coroscope::detail
