// SPDX-License-Identifier: Apache-2.0

// The states of threads, as bars inside the innermost bars of threads and tasks: blocked, with the
// reason, and preempted.
//
// They never displace another bar. They are drawn when the next span of their lane comes, into the
// time between two ends of spans there. So a state is cut at a scope's end if the kernel's clock
// differs a little from that of the scopes.

#include <algorithm>

#include "drawing.hpp"

namespace coroscope::analysis::inline timelines {
namespace {

/// Shorter states are not drawn. Their time is in the arguments of the bars around them.
constexpr std::int64_t shortest_state_ns = 10'000;

}  // namespace

/// Draws the states on a lane of a thread, or of `task`, up to the start of the next span there.
void drawing::draw_states_until(std::int64_t until_ns, const lane_ref& where, lane& spans,
                                std::uint32_t task) {
    if (!running_) return;
    if (where.number >= states_until_.size()) states_until_.resize(where.number + 1);
    std::int64_t at_ns = states_until_[where.number];
    while (at_ns < until_ns) {
        const lane::open_span* const innermost = spans.innermost_at(at_ns);
        if (innermost == nullptr) break;
        const span what{at_ns, std::min(innermost->end_ns, until_ns)};
        at_ns = what.end_ns;
        if (innermost->room == inside::closed || what.end_ns - what.start_ns < shortest_state_ns)
            continue;
        if (where.in == process::tasks)
            draw_states_of_task(where, task, what);
        else
            draw_states_of_thread(where, where.number, what);
    }
    states_until_[where.number] = std::max(at_ns, until_ns);
}

void drawing::draw_last_states() {
    for (std::uint32_t at = 0; at < thread_lanes_.size() && !canvas_.failed(); ++at)
        draw_states_until(latest_ns, lane_of_thread(at), thread_lanes_[at]);
    for (task_lane& each : task_lanes_) {
        if (canvas_.failed()) return;
        draw_states_until(latest_ns, each.where, each.spans, each.owner);
    }
}

void drawing::draw_states_of_task(const lane_ref& where, std::uint32_t task, const span& what) {
    for (const std::uint32_t each : running_->slices_of(task, what.start_ns, what.end_ns)) {
        const slice& run = from_.slices[each];
        draw_states_of_thread(
            where, run.thread,
            {std::max(run.start_ns, what.start_ns), std::min(run.end_ns, what.end_ns)});
    }
}

void drawing::draw_states_of_thread(const lane_ref& where, std::uint32_t thread, const span& what) {
    if (what.end_ns - what.start_ns < shortest_state_ns) return;
    for (const state_stretch& each : from_.states.stretches(thread, what.start_ns, what.end_ns)) {
        if (each.end_ns - each.start_ns < shortest_state_ns) continue;
        const span drawn{each.start_ns, each.end_ns};
        if (each.state == thread_state::blocked) draw_blocked(where, thread, drawn);
        if (each.state == thread_state::preempted)
            canvas_.draw(open(where, drawn, names_.of_word(word::preempted),
                              names_.category(kind_of_bar::thread_state)));
    }
}

void drawing::draw_blocked(const lane_ref& where, std::uint32_t thread, const span& what) {
    const blocked_reason reason = reasons_->of(thread, what.start_ns, what.end_ns);
    const std::string name = "blocked: " + reason.call;
    bar& drawn = open(where, what, reason.call.empty() ? names_.of_word(word::blocked) : none,
                      names_.category(kind_of_bar::thread_state));
    drawn.own_name = name;
    if (!reason.call.empty()) drawn.text(argument::call, reason.call);
    if (reason.descriptor >= 0) drawn.integer(argument::descriptor, reason.descriptor);
    if (!reason.address.empty()) drawn.text(argument::address, reason.address);
    if (!reason.lock.empty()) drawn.text(argument::lock, reason.lock);
    if (!reason.holder.empty()) drawn.text(argument::holder, reason.holder);
    add_task_id(drawn, argument::holder_task, reason.holder_task);
    if (reason.holder_scope < from_.events.size()) {
        const std::uint32_t label = from_.events[reason.holder_scope].name;
        if (label < from_.strings.size()) drawn.text(argument::holder_scope, from_.strings[label]);
    }
    canvas_.draw(drawn);
}

/// Adds the parts of a scope's running time. Adds nothing if its suspension is unknown, because its
/// running time is then unknown, too.
void drawing::add_states(bar& drawn, const event& scope, bool moved) const {
    if (!moved)
        return add_states(drawn, from_.states.between(scope.thread, scope.start_ns, scope.end_ns));
    if ((scope.flags & event_suspension_unknown) == 0)
        add_states(drawn, running_->of_task(scope.task, scope.start_ns, scope.end_ns));
}

/// Adds the parts that are not 0.
void drawing::add_states(bar& drawn, const state_times& times) {
    if (times.on_cpu_ns != 0) drawn.integer(argument::on_cpu_ns, times.on_cpu_ns);
    if (times.blocked_ns != 0) drawn.integer(argument::blocked_ns, times.blocked_ns);
    if (times.preempted_ns != 0) drawn.integer(argument::preempted_ns, times.preempted_ns);
    if (times.unknown_ns != 0) drawn.integer(argument::state_unknown_ns, times.unknown_ns);
}

}  // namespace coroscope::analysis::inline timelines
