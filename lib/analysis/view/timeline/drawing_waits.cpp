// SPDX-License-Identifier: Apache-2.0

// The lanes of waits for locks and resources, and of blocking calls. Waits of several threads
// overlap, so that each kind has as many lanes as it has waits at one time.

#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/blocking_statistics.hpp>
#include <coroscope/analysis/lock_statistics.hpp>
#include <fmt/format.h>

#include "../../words/places.hpp"
#include "drawing.hpp"
#include "drawing_order.hpp"

namespace coroscope::analysis::inline timelines {

void drawing::draw_waits() {
    if (from_.lock_waits.empty() && from_.resource_waits.empty() && from_.blocking_calls.empty())
        return;
    const std::string name = from_.process_name.empty() ? "process" : from_.process_name;
    canvas_.name_process(waits_process(from_), name + ": locks, resources and blocking calls", 2);
    draw_waits_of(from_.lock_waits, "locks", [this](const lock_wait& each) { draw_wait(each); });
    draw_waits_of(from_.resource_waits, "resources",
                  [this](const resource_wait& each) { draw_wait(each); });
    draw_waits_of(from_.blocking_calls, "blocking calls",
                  [this](const blocking_call& each) { draw_wait(each); });
}

/// Draws waits, which must come by their start. `draw` must draw into bar_.
template <class Wait, class Draw>
void drawing::draw_waits_of(const std::vector<Wait>& waits, std::string_view kind,
                            const Draw& draw) {
    lane_pool pool;
    std::vector<lane_ref> lanes;
    auto spans = ordered_spans(waits.size(), [&](std::uint32_t at) {
        return span_between(waits[at].start_ns, waits[at].end_ns);
    });
    while (!spans.done() && !canvas_.failed()) {
        const span what = spans.front();
        const Wait& wait = waits[spans.pop()];
        const std::uint32_t taken = pool.take(what);
        if (taken == lanes.size()) {
            const lane_ref added = new_lane(waits_process(from_), ++wait_lanes_);
            lanes.push_back(added);
            const std::string number = taken == 0 ? "" : " " + std::to_string(taken + 1);
            canvas_.name_lane(added, std::string(kind) + number, wait_lanes_);
        }
        open(lanes[taken], what, none, names_.category(kind_of_bar::wait));
        draw(wait);
    }
}

void drawing::draw_wait(const lock_wait& wait) {
    const std::string name = fmt::format("{} {:#x}", name_of_lock(wait.kind), wait.address);
    const std::string holder =
        wait.holder.thread == none ? std::string() : thread_name(from_, wait.holder.thread);
    bar_.own_name = name;
    add_task_id(bar_, argument::task, wait.waiter.task);
    if (!holder.empty()) bar_.text(argument::holder, holder);
    add_task_id(bar_, argument::holder_task, wait.holder.task);
    add_holder_scope(wait.holder.scope);
    canvas_.draw(bar_);
}

void drawing::draw_wait(const resource_wait& wait) {
    const std::string name = site_name(from_, wait.site);
    const std::string holder = wait.holder_known && wait.holder_thread < from_.threads.size()
                                   ? thread_name(from_, wait.holder_thread)
                                   : std::string();
    bar_.own_name = name;
    add_task_id(bar_, argument::task, wait.task);
    add_place(bar_, wait.site);
    if (!holder.empty()) bar_.text(argument::holder, holder);
    add_task_id(bar_, argument::holder_task, wait.holder_task);
    add_holder_scope(wait.holder_scope);
    canvas_.draw(bar_);
}

void drawing::draw_wait(const blocking_call& wait) {
    const std::string descriptor(name_of_descriptor(wait.descriptor));
    const std::string name = fmt::format("{} {}", name_of_function(wait.function), descriptor);
    bar_.own_name = std::string_view(name).substr(0, name.size() - (descriptor.empty() ? 1 : 0));
    add_task_id(bar_, argument::task, wait.task);
    canvas_.draw(bar_);
}

void drawing::add_holder_scope(std::uint32_t scope) {
    if (scope >= from_.events.size()) return;
    const std::uint32_t label = from_.events[scope].name;
    if (label < from_.strings.size()) bar_.text(argument::holder_scope, from_.strings[label]);
}

}  // namespace coroscope::analysis::inline timelines
