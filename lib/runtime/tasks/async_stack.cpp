// SPDX-License-Identifier: Apache-2.0
#include <coroscope/async_stack.hpp>

#include "../writer/recorder.hpp"
#include "async_stack.hpp"
#include "live_tasks.hpp"

namespace coroscope {
namespace {

using namespace runtime;

async_place place_of(std::uint32_t site) noexcept {
    const known_site* known = site == 0 ? nullptr : find_site(site);
    if (known == nullptr) return {};
    return {known->label, known->function, known->file, known->line};
}

std::uint64_t above_of(const live_task& task) noexcept {
    return task.awaiter != 0 ? task.awaiter : task.parent;
}

async_frame frame_of(std::uint64_t task, const live_task& found, std::int64_t now_ns) noexcept {
    async_frame frame;
    frame.task = task;
    frame.state = found.state;
    frame.thread = found.thread;
    frame.age_ns = now_ns > found.since_ns ? now_ns - found.since_ns : 0;
    frame.spawn = place_of(found.spawn_site);
    frame.await = place_of(found.await_site);
    return frame;
}

// The one task of which something is known without the table.
async_frame frame_of(std::uint64_t task, const detail::task_state* state) noexcept {
    async_frame frame;
    frame.task = task;
    if (state == nullptr || state->where == nullptr) return frame;
    site* where = intern_location(state->where, site_kind::coroutine);
    if (where != nullptr) frame.spawn = place_of(site_id(*where));
    return frame;
}

void write_state(text_writer& to, const async_frame& frame) noexcept {
    switch (frame.state) {
        case async_state::unknown: return;
        case async_state::spawned: to.text(", spawned "); break;
        case async_state::running: to.text(", running for "); break;
        case async_state::suspended: to.text(", suspended for "); break;
    }
    to.seconds(frame.age_ns);
    if (frame.state == async_state::spawned) to.text(" ago");
    if (frame.state == async_state::running && frame.thread != 0)
        to.text(" on thread ").natural(frame.thread);
    if (*frame.await.label == '\0') return;
    to.text(frame.state == async_state::running ? ", last at " : " at ");
    async_stack_builder::write_place(to, frame.await);
}

void write_frame(text_writer& to, const async_stack& stack, std::size_t index) noexcept {
    const async_frame& frame = stack[index];
    to.text("#").natural(index).text(" task ").natural(frame.task);
    if (*frame.spawn.label != '\0') async_stack_builder::write_place(to.text(" "), frame.spawn);
    write_state(to, frame);
    if (frame.state == async_state::unknown && stack.tracked()) to.text(", not in the table");
    if (frame.awaits != 0) {
        to.text(", awaits task ").natural(frame.awaits);
    } else if (index != 0) {
        to.text(", parent of task ").natural(stack[index - 1].task);
    }
}

}  // namespace

void async_stack_builder::write_place(text_writer& to, const async_place& place) noexcept {
    to.text(*place.label == '\0' ? "an unknown place" : place.label);
    if (*place.file != '\0') to.text(" (").text(place.file).text(":").natural(place.line).text(")");
}

const char* async_stack_builder::how_to_track() noexcept {
    return "live tasks are not tracked; turn it on with coroscope::track_live_tasks(true) or "
           "COROSCOPE_LIVE=1";
}

std::uint64_t async_stack_builder::above(std::uint64_t task) noexcept {
    live_task found{};
    return read_live(task, found) ? above_of(found) : 0;
}

bool async_stack_builder::descends(std::uint64_t task, std::uint64_t ancestor) noexcept {
    for (std::uint32_t steps = 0; task != 0 && steps < live_slot_count; ++steps, task = above(task))
        if (task == ancestor) return true;
    return false;
}

async_stack async_stack_builder::build(std::uint64_t task,
                                       const detail::task_state* state) noexcept {
    async_stack stack;
    stack.tracked_ = tracks_live();
    const std::int64_t now_ns = stack.tracked_ ? live_now() : 0;
    // One that ran before the tracking began has no id yet.
    if (task == 0 && state != nullptr) stack.frames_[stack.size_++] = frame_of(task, state);
    std::uint64_t below = 0;
    // As many steps as there can be tasks: whatever a race makes of the edges, this ends.
    for (std::uint32_t steps = 0; task != 0 && steps < live_slot_count; ++steps) {
        live_task found{};
        const bool known = stack.tracked_ && read_live(task, found);
        if (stack.size_ == async_stack::most_frames) {
            ++stack.cut_;
        } else {
            async_frame& frame = stack.frames_[stack.size_++];
            frame = known ? frame_of(task, found, now_ns)
                          : frame_of(task, below == 0 ? state : nullptr);
            live_task awaited{};
            if (known && below != 0 && read_live(below, awaited) && awaited.awaiter == task)
                frame.awaits = below;
        }
        if (!known) break;
        below = task;
        task = above_of(found);
    }
    return stack;
}

// The thread's frame may be of a task below the current one, whose context was installed by hand.
async_stack current_async_stack() noexcept {
    const std::uint64_t task = task_of(this_thread.mark);
    const detail::task_state* frame = this_thread.frame;
    return async_stack_builder::build(task,
                                      frame != nullptr && frame->task == task ? frame : nullptr);
}

std::size_t format(const async_stack& stack, char* to, std::size_t size) noexcept {
    text_writer text(to, size);
    for (std::size_t index = 0; index < stack.size(); ++index) {
        write_frame(text, stack, index);
        text.text("\n");
    }
    if (stack.cut() != 0) text.text("and ").natural(stack.cut()).text(" more\n");
    if (!stack.tracked()) {
        text.text(async_stack_builder::how_to_track()).text("\n");
    } else if (stack.empty()) {
        text.text("no task runs on this thread\n");
    }
    return text.size();
}

}  // namespace coroscope
